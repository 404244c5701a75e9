import { Args, type ArgValue, flagValue, needsValue, unknownFlag, withoutAttached } from './args.ts';
import { UsageError } from '../failure.ts';
import type { Flag } from '../command.ts';

/**
 * Reads flags without a library, for `dkc agent run`, which loads none: `--name=value`, `--name value`, `-x`, `-xx`, `-x=value`, `-xvalue`; the last one wins.
 * @throws {UsageError} naming the flag and the remedy
 */
export function plainFlags(command: string, flags: readonly Flag[], argv: readonly string[]): Args {
  const usage = (problem: string): UsageError => new UsageError(`${command}: ${problem}; see dkc ${command} --help`);
  const given = new Map<string, string | boolean | number>();
  const words = withoutAttached(flags, argv);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, dashes = '', name = '', inline] = /^(--?)([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (dashes === '') throw usage(`unexpected argument ${JSON.stringify(word)}`);
    const flag = flags.find((flag) => (dashes === '--' ? flag.name === name : flag.alias !== undefined && isRepeated(name, flag.alias)));
    if (!flag) throw usage(unknownFlag(`${dashes}${name}`, name, flags));
    given.set(
      flag.name,
      inline ?? implied(flag, name, dashes, Number(given.get(flag.name) ?? 0), words) ?? raise(usage(needsValue(flag.name))),
    );
  }
  const values = new Map<string, ArgValue | undefined>();
  for (const flag of flags) {
    const read = flagValue(flag, given.get(flag.name));
    if (!read.ok) throw usage(`--${flag.name} ${read.problem}`);
    values.set(flag.name, read.value);
  }
  return new Args(values, new Map());
}

const isRepeated = (name: string, letter: string): boolean => name.replaceAll(letter, '') === '';

/** The value of a flag that was given without `=`. */
function implied(flag: Flag, name: string, dashes: string, before: number, words: string[]): string | boolean | number | undefined {
  switch (flag.type) {
    case 'boolean':
      return true;
    case 'count':
      return before + (dashes === '-' ? name.length : 1);
    case 'string':
    case 'number':
    case 'duration': {
      if (flag.implied !== undefined) return true;
      const [next] = words;
      return next === undefined || next.startsWith('--') ? undefined : words.shift();
    }
  }
}

function raise(error: Error): never {
  throw error;
}

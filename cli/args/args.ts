import type { Millis } from '../../base/clock.ts';
import { nearest } from '../../base/errors.ts';
import { goDuration } from '../../base/go-duration.ts';
import { UsageError } from '../failure.ts';
import type { Flag } from '../command.ts';

/** A parsed value; durations are in milliseconds. */
export type ArgValue = string | number | boolean;

/** The values of the command line, by name. Reading a name that the command does not declare is a bug and throws. */
export class Args {
  readonly #flags: ReadonlyMap<string, ArgValue | undefined>;
  readonly #positionals: ReadonlyMap<string, readonly string[]>;
  readonly #lists: ReadonlyMap<string, readonly string[]>;

  /**
   * @param flags - every declared flag, undefined if absent
   * @param positionals - every declared positional, empty if absent
   * @param lists - all values of flags that may be given more than once
   */
  constructor(
    flags: ReadonlyMap<string, ArgValue | undefined>,
    positionals: ReadonlyMap<string, readonly string[]>,
    lists: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#flags = flags;
    this.#positionals = positionals;
    this.#lists = lists;
  }

  text(name: string): string | undefined {
    const value = this.#flag(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** All values of a flag that may be given more than once, in the order given; empty if absent. */
  texts(name: string): readonly string[] {
    const last = this.text(name);
    return this.#lists.get(name) ?? (last === undefined ? [] : [last]);
  }

  /** False when absent. */
  on(name: string): boolean {
    return this.#flag(name) === true;
  }

  /** For numbers and counts. */
  number(name: string): number | undefined {
    const value = this.#flag(name);
    return typeof value === 'number' ? value : undefined;
  }

  /** For durations. */
  ms(name: string): Millis | undefined {
    return this.number(name);
  }

  /** As it was given, whatever its type; undefined when absent. */
  value(name: string): ArgValue | undefined {
    return this.#flag(name);
  }

  /** A positional that takes one value. */
  one(name: string): string | undefined {
    return this.many(name)[0];
  }

  many(name: string): readonly string[] {
    const values = this.#positionals.get(name);
    if (values === undefined) throw new TypeError(`the command declares no positional ${name}`);
    return values;
  }

  /** Whether the command declares this flag. */
  has(name: string): boolean {
    return this.#flags.has(name);
  }

  #flag(name: string): ArgValue | undefined {
    if (!this.#flags.has(name)) throw new TypeError(`the command declares no flag --${name}`);
    return this.#flags.get(name);
  }
}

type FlagRead = { ok: true; value: ArgValue | undefined } | { ok: false; problem: string };

/**
 * One flag's value, converted to its type; the default if absent.
 * @param given - from a command line (text or boolean) or from YAML (also numbers)
 */
export function flagValue(flag: Flag, given: unknown): FlagRead {
  const raw = given ?? flag.default;
  if (raw === undefined) return { ok: true, value: undefined };
  switch (flag.type) {
    case 'string':
      return stringValue(flag, raw);
    case 'boolean':
      return raw === true || raw === 'true'
        ? { ok: true, value: true }
        : raw === false || raw === 'false'
          ? { ok: true, value: false }
          : { ok: false, problem: 'must be true or false' };
    case 'number':
    case 'count':
      return (typeof raw === 'string' || typeof raw === 'number') && /^\d{1,9}$/.test(String(raw))
        ? { ok: true, value: Number(raw) }
        : { ok: false, problem: 'must be an integer, 0 or more' };
    case 'duration':
      return durationValue(flag.bareSeconds && typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? `${raw}s` : raw);
  }
}

function stringValue(flag: Flag, given: unknown): FlagRead {
  const raw = given === true ? flag.implied : given;
  if (typeof raw !== 'string') return { ok: false, problem: 'must be a string' };
  const { choices, prefixes = [] } = flag;
  if (choices && !choices.includes(raw) && !prefixes.some((prefix) => raw.startsWith(prefix)))
    return { ok: false, problem: `must be one of ${[...choices, ...prefixes].join(', ')}` };
  return { ok: true, value: raw };
}

/** Milliseconds. Part of a millisecond counts as a whole one, so that no duration but 0 becomes 0. */
function durationValue(raw: unknown): FlagRead {
  const nanoseconds = typeof raw === 'string' ? goDuration(raw) : undefined;
  if (nanoseconds === undefined || nanoseconds < 0n) return { ok: false, problem: 'must be a duration such as 10s or 1m30s' };
  return { ok: true, value: Number((nanoseconds + 999_999n) / 1_000_000n) };
}

/** Whether the next word may be the flag's value. */
export const takesNext = ({ type, implied }: Flag): boolean => type !== 'boolean' && type !== 'count' && implied === undefined;

/** Rewrites `-ojson` as `--output=json`: as in kubectl, the text after the letter of a flag with a value is the value. */
export function withoutAttached(flags: readonly Flag[], argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => {
    const [, letter = '', value = ''] = /^-([a-z])([^=][\s\S]*)$/.exec(word) ?? [];
    const flag = letter === '' || (end >= 0 && at > end) ? undefined : flags.find((one) => one.alias === letter && takesNext(one));
    return flag === undefined ? word : `--${flag.name}=${value}`;
  });
}

// There are two parsers, since `agent run` loads no library; both use kubectl's error messages.

export const needsValue = (name: string): string => `--${name} needs a value`;

/** The message for an unknown flag, with a suggestion. */
export function unknownFlag(typed: string, name: string, flags: readonly Flag[]): string {
  const listed = flags.filter((flag) => flag.hidden !== true).map((flag) => flag.name);
  // One letter is like every other.
  const found = name.length === 1 ? undefined : nearest(name, listed);
  return `unknown flag ${typed}${found === undefined ? '' : `, did you mean --${found}?`}`;
}

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

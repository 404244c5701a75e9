import { Args, type ArgValue, flagValue, needsValue, takesNext, unknownFlag, withoutAttached } from './args.ts';
import { UsageError } from '../failure.ts';
import { helpText } from '../help/help.ts';
import { formatFlag, noHeadersFlag } from '../output/output.ts';
import { nearest } from '../../base/errors.ts';
import type { Command, Flag, Positional } from '../command.ts';
import type { Entry } from '../commands.ts';
import type { Argv, Options } from 'yargs';

export type Parsed = { want: 'help'; text: string } | { want: 'run'; args: Args; verbose: boolean };

/** A command, and the commands whose names begin with its name. */
export type Named = Pick<Entry, 'name'> & { below: readonly Entry[] };

/** Longer lines are hard to read. */
const WIDEST_HELP = 110;

const commonFlags: readonly Flag[] = [
  { name: 'help', alias: 'h', type: 'boolean', text: 'show this help' },
  { name: 'verbose', alias: 'v', type: 'count', text: 'more output on stderr, with stack traces' },
];

/** The flags of a command and the global flags. */
export function allFlags(command: Pick<Command, 'flags'>): readonly Flag[] {
  const own = new Set(command.flags.flatMap((flag) => [flag.name, flag.alias ?? '']));
  const formatted = command.flags.includes(formatFlag) ? [noHeadersFlag] : [];
  return [...command.flags, ...formatted, ...commonFlags.filter((flag) => !own.has(flag.name) && !own.has(flag.alias ?? '-'))];
}

/**
 * Reads what follows the words of a command.
 * @param width - columns that help may use
 * @throws {UsageError} on an unknown flag, a missing or surplus value, a value of the wrong type
 */
export async function parse(entry: Named, command: Command, typed: readonly string[], width: number): Promise<Parsed> {
  const flags = allFlags(command);
  const argv = withoutAttached(flags, typed);
  const parser = await parserOf(flags);
  let problem: string | undefined;
  parser.fail((message, error) => {
    problem ??= message ?? error.message;
  });
  const given = (await parser.parseAsync(argv)) as Readonly<Record<string, unknown>>;
  // --help wins over every other error of the line.
  if (given['help'] === true) return { want: 'help', text: helpText(entry, command, flags, Math.min(width, WIDEST_HELP)) };
  if (problem !== undefined) throw usage(entry, flagProblem(problem, argv, flags));
  const values = new Map<string, ArgValue | undefined>();
  const written = writtenValues(flags, argv);
  for (const flag of flags) {
    // yargs reports an absent count as 0, which would override agent.yaml.
    const counted = flag.type === 'count' && given[flag.name] === 0 ? undefined : given[flag.name];
    const read = flagValue(flag, written.get(flag.name) ?? counted);
    if (read.ok) values.set(flag.name, read.value);
    else throw usage(entry, `--${flag.name} ${read.problem}`);
  }
  for (const flag of flags) if (flag.required && values.get(flag.name) === undefined) throw usage(entry, `--${flag.name} is missing`);
  const rest = (Array.isArray(given['_']) ? given['_'] : []).map(String);
  const positionals = readPositionals(entry, command.positionals, rest);
  return {
    want: 'run',
    args: new Args(values, positionals, listed(flags, argv)),
    verbose: Number(values.get('verbose') ?? values.get('verbosity') ?? 0) > 0,
  };
}

function readPositionals(entry: Named, declared: readonly Positional[], given: readonly string[]): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  let at = 0;
  for (const { name, required, many, choices } of declared) {
    const values = given.slice(at, many ? undefined : at + 1);
    at += values.length;
    if (required && values.length === 0) throw usage(entry, `${name.toUpperCase()} is missing`);
    const odd = choices && values.find((value) => !choices.includes(value));
    if (odd !== undefined) throw usage(entry, `${name.toUpperCase()} is ${JSON.stringify(odd)}, it must be one of ${choices?.join(', ')}`);
    found.set(name, values);
  }
  const surplus = given[at];
  if (surplus !== undefined) throw usage(entry, `unexpected argument ${JSON.stringify(surplus)}${meantBelow(entry, given)}`);
  return found;
}

const usage = (entry: Named, problem: string): UsageError => new UsageError(`${entry.name}: ${problem}; see dkc ${entry.name} --help`);

/** yargs splits the line; help, defaults and types are ours, so that `agent run`, which does not load yargs, parses the same way. */
async function parserOf(flags: readonly Flag[]): Promise<Argv> {
  const { default: yargs } = await import('yargs');
  const parser = yargs()
    .locale('en')
    .parserConfiguration({
      'camel-case-expansion': false,
      'dot-notation': false,
      'duplicate-arguments-array': false,
      'boolean-negation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .help(false)
    .version(false)
    .exitProcess(false)
    .strictOptions();
  for (const flag of flags) parser.option(flag.name, optionOf(flag));
  return parser;
}

/**
 * Values given with `=` to flags that need none; the last value wins. yargs turns every word but `true` into false, and every number into 1:
 * with `--leader-elect=True` the process would lead without a lease.
 */
function writtenValues(flags: readonly Flag[], argv: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const word of argv) {
    if (word === '--') break;
    const [, dashes = '', name = '', value = ''] = /^(--?)([^-=][^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    const flag = flags.find((one) => (dashes === '--' ? one.name : one.alias) === name);
    if (flag === undefined || takesNext(flag)) continue;
    if (word.includes('=')) values.set(flag.name, value);
    else values.delete(flag.name);
  }
  return values;
}

/** All values of flags that may be given more than once: yargs keeps only the last one. */
function listed(flags: readonly Flag[], argv: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, string[]>();
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const [, name = '', inline] = /^--([^-=][^=]*)(?:=([\s\S]*))?$/.exec(argv[at] ?? '') ?? [];
    const flag = flags.find((one) => one.name === name);
    if (!flag || !takesNext(flag)) continue;
    const value = inline ?? argv[++at] ?? '';
    if (flag.many) lists.set(name, [...(lists.get(name) ?? []), value]);
  }
  return lists;
}

function optionOf({ type, alias, implied }: Flag): Options {
  const named = alias === undefined ? {} : { alias };
  if (type === 'boolean' || implied !== undefined) return { ...named, type: 'boolean' };
  if (type === 'count') return { ...named, type: 'count' };
  // yargs returns all other values as text and flagValue checks them: as numbers yargs would turn `abc` into NaN and `1e3` into 1000.
  return { ...named, type: 'string', requiresArg: true };
}

/** A suggestion for surplus words: the subcommand that the user probably meant, else all of them. */
function meantBelow({ name, below }: Named, [first = '']: readonly string[]): string {
  if (below.length === 0) return '';
  const found = nearestBelow(name, first, below);
  return found === undefined ? `; commands: ${below.map((entry) => `dkc ${entry.name}`).join(', ')}` : `, did you mean dkc ${found}?`;
}

/** The command that was probably meant by NAME WORD, where NAME is right: only the word counts, as `rollout delete` is not `rollout create`. */
export function nearestBelow(name: string, word: string, below: readonly Pick<Entry, 'name'>[]): string | undefined {
  const found = nearest(word, below.map((entry) => entry.name.slice(name.length + 1))); // prettier-ignore
  return found === undefined ? undefined : `${name} ${found}`;
}

/** An error of yargs, in the words of `agent run` and kubectl. */
function flagProblem(problem: string, argv: readonly string[], flags: readonly Flag[]): string {
  const [, unknown] = /^Unknown arguments?: ([^,]+)/.exec(problem) ?? [];
  if (unknown !== undefined) return unknownFlag(dashed(unknown, argv), unknown, flags);
  const [, valueless] = /^Not enough arguments following: (\S+)$/.exec(problem) ?? [];
  if (valueless !== undefined) return needsValue(flags.find(({ alias }) => alias === valueless)?.name ?? valueless);
  return lowerFirst(problem);
}

/** The name with the dashes that were typed: `-w` is not `--w`. */
const dashed = (name: string, argv: readonly string[]): string =>
  argv.some((word) => word === `--${name}` || word.startsWith(`--${name}=`)) ? `--${name}` : `-${name}`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\s*\n\s*/g, ' ');

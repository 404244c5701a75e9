import { Args } from './args.ts';
import { UsageError } from './failure.ts';
import { flagValue } from './flag-value.ts';
import type { ArgValue } from './args.ts';
import type { Command, Flag, Positional } from './command.ts';
import type { Entry } from './commands.ts';
import type { Argv, Options } from 'yargs';

export type Parsed = { want: 'help'; text: string } | { want: 'run'; args: Args; verbose: boolean };

const commonFlags: readonly Flag[] = [
  { name: 'help', alias: 'h', type: 'boolean', text: 'Show this help' },
  { name: 'verbose', alias: 'v', type: 'count', text: 'Say more on stderr, with stacks of errors' },
];

/** The flags of a command with those that every command has. */
export function allFlags(command: Command): readonly Flag[] {
  const own = new Set(command.flags.flatMap((flag) => [flag.name, flag.alias ?? '']));
  return [...command.flags, ...commonFlags.filter((flag) => !own.has(flag.name) && !own.has(flag.alias ?? '-'))];
}

/**
 * Reads what follows the words of a command.
 * @param width - columns that help may use
 * @throws {UsageError} on an unknown flag, a missing or surplus value, a value of the wrong type
 */
export async function parse(entry: Entry, command: Command, argv: readonly string[], width: number): Promise<Parsed> {
  const flags = allFlags(command);
  const parser = await parserOf(entry, command, flags, width);
  let problem: string | undefined;
  parser.fail((message, error) => {
    problem ??= message ?? error.message;
  });
  const given = (await parser.parseAsync([...argv])) as Readonly<Record<string, unknown>>;
  // Help wins over whatever else is wrong with the line.
  if (given['help'] === true) return { want: 'help', text: await helpOf(parser) };
  if (problem !== undefined) throw usage(entry, lowerFirst(problem));
  const values = new Map<string, ArgValue | undefined>();
  for (const flag of flags) {
    const read = flagValue(flag, given[flag.name]);
    if (read.ok) values.set(flag.name, read.value);
    else throw usage(entry, `--${flag.name} ${read.problem}`);
  }
  for (const flag of flags) if (flag.required && values.get(flag.name) === undefined) throw usage(entry, `--${flag.name} is missing`);
  const rest = (Array.isArray(given['_']) ? given['_'] : []).map(String);
  const positionals = readPositionals(entry, command.positionals, rest);
  return { want: 'run', args: new Args(values, positionals), verbose: Number(values.get('verbose') ?? values.get('verbosity') ?? 0) > 0 };
}

function readPositionals(entry: Entry, declared: readonly Positional[], given: readonly string[]): Map<string, readonly string[]> {
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
  if (surplus !== undefined) throw usage(entry, `unexpected argument ${JSON.stringify(surplus)}`);
  return found;
}

const usage = (entry: Entry, problem: string): UsageError => new UsageError(`${entry.name}: ${problem}; see dkc ${entry.name} --help`);

async function parserOf(entry: Entry, command: Command, flags: readonly Flag[], width: number): Promise<Argv> {
  const { default: yargs } = await import('yargs');
  const parser = yargs()
    .scriptName('dkc')
    .locale('en')
    .usage(`Usage: ${usageLine(entry, command)}\n\n${command.describe}`)
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
    .strictOptions()
    .wrap(Math.min(width, 120));
  for (const positional of command.positionals) parser.positional(positional.name, { type: 'string', describe: positional.text });
  for (const flag of flags) parser.option(flag.name, optionOf(flag));
  for (const { run, what } of command.examples) parser.example(run, what);
  return parser.updateStrings({ 'Options:': 'FLAGS', 'Examples:': 'EXAMPLES', 'Positionals:': 'ARGUMENTS' });
}

function optionOf(flag: Flag): Options {
  const shown = flag.defaultText ?? (flag.default === undefined || flag.default === '' ? undefined : String(flag.default));
  return {
    // Everything but switches is read as text and judged by flagValue: yargs would turn `abc` into NaN and `1e3` into 1000.
    type: flag.type === 'boolean' ? 'boolean' : flag.type === 'count' ? 'count' : 'string',
    describe: `${flag.value === undefined ? '' : `${flag.value}: `}${flag.text}${flag.choices ? ` (${flag.choices.join('|')})` : ''}`,
    ...(flag.alias === undefined ? {} : { alias: flag.alias }),
    ...(flag.type === 'boolean' || flag.type === 'count' ? {} : { requiresArg: true }),
    ...(flag.hidden ? { hidden: true } : {}),
    // flagValue applies the default itself: yargs would only print it.
    ...(shown === undefined ? {} : { defaultDescription: shown }),
    ...(flag.type === 'boolean' || flag.type === 'count' || flag.default === undefined ? {} : { default: flag.default }),
  };
}

function usageLine(entry: Entry, command: Command): string {
  const words = command.positionals.map(({ name, required, many }) => {
    const word = `${name.toUpperCase()}${many ? '..' : ''}`;
    return required ? word : `[${word}]`;
  });
  return ['dkc', entry.name, ...words, '[flags]'].join(' ');
}

async function helpOf(parser: Argv): Promise<string> {
  return `${await parser.getHelp()}\n`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\s*\n\s*/g, ' ');

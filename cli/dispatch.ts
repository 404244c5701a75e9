import { connectFlags, namespaceFlag } from './connect/flags.ts';
import { checkFormat, formatFlag, formatOf, noHeadersFlag } from './output/output.ts';
import { takesNext, withoutAttached } from './args/args.ts';
import { nearestBelow, parse } from './args/parse.ts';
import { nearest } from '../base/errors.ts';
import { exitCodeOf, failureText, Interrupted, UsageError } from './failure.ts';
import { overview, asTyped } from './help/help.ts';
import { printable } from './output/printable.ts';
import type { Args } from './args/args.ts';
import type { Command, Context, Flag, Sink } from './command.ts';
import type { Entry } from './commands.ts';

/** Width of help text without a terminal. */
const HELP_WIDTH = 100;

/** Runs one command line. Never throws: @returns the exit code, with its one line on stderr where it is not 0. */
export async function dispatch(entries: readonly Entry[], argv: readonly string[], world: Context): Promise<number> {
  const words = new Set(['COMMAND', 'help', ...entries.map(({ name }) => name.split(' ')[0] ?? '')]);
  const asTypedHere = (text: string): string => asTyped(world.program, words, text);
  let verbose = (world.env['DKC_DEBUG'] ?? '') !== '';
  try {
    const { leading, following } = leadingFlags(helpAsFlag(argv));
    const found = findCommand(entries, following);
    switch (found.at) {
      case 'unknown': {
        const hint = found.suggestion === undefined ? `see ${found.help}` : `did you mean dkc ${found.suggestion}?`;
        throw new UsageError(`unknown command ${JSON.stringify(found.words)}; ${hint}`);
      }
      case 'group': {
        const [flag] = found.rest;
        if (flag === '--version') return await dispatch(entries, ['version'], world);
        const asked = flag === '--help' || flag === '-h';
        if (!asked && flag !== undefined) throw new UsageError(`flags go after the command: dkc COMMAND ${printable(flag)}; see dkc help`);
        const text = asTypedHere(overview(entries, found.prefix));
        if (asked) world.stdout.write(text);
        else world.stderr.write(text);
        return asked ? 0 : 2;
      }
      case 'command': {
        const command = await found.entry.load();
        const below = commandsBelow(entries, found.entry.name);
        const rest = [...leading, ...found.rest];
        const parsed = await parse({ ...found.entry, below }, command, rest, world.stdout.columns ?? HELP_WIDTH);
        if (parsed.want === 'help') {
          world.stdout.write(asTypedHere(parsed.text));
          return 0;
        }
        verbose ||= parsed.verbose;
        // Other commands have their own --output flag, whose choices the parser has checked.
        if (command.flags.includes(formatFlag)) await checkFormat(parsed.args);
        const exit = await command.run(speaking(world, command, parsed.args, asTypedHere), parsed.args);
        if (exit.code === 1) world.stderr.write(asTypedHere(`dkc: ${printable(exit.why)}\n`));
        return exit.code;
      }
    }
  } catch (error) {
    // The user interrupted the command, so any other error that it ends with is ignored.
    const cause: unknown = world.signal.aborted && world.signal.reason instanceof Interrupted ? world.signal.reason : error;
    world.stderr.write(asTypedHere(failureText(cause, verbose)));
    return exitCodeOf(cause);
  }
}

/** In output for people, commands have the program name that the user called (`kubectl dkc`); output for scripts is unchanged. */
function speaking(world: Context, command: Command, args: Args, asTypedHere: (text: string) => string): Context {
  if (world.program === 'dkc') return world;
  const speaker = (sink: Sink): Sink => ({ ...sink, write: (text) => sink.write(asTypedHere(text)) });
  const forPeople = command.flags.includes(formatFlag) && ['table', 'wide'].includes(formatOf(args));
  return { ...world, stderr: speaker(world.stderr), stdout: forPeople ? speaker(world.stdout) : world.stdout };
}

/** `dkc help checkpoints list` is `dkc checkpoints list --help`. */
function helpAsFlag(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}

export type Found =
  | { at: 'command'; entry: Entry; rest: readonly string[] }
  /** A prefix of commands such as `checkpoints`, or nothing at all. */
  | { at: 'group'; prefix: string; rest: readonly string[] }
  | { at: 'unknown'; words: string; suggestion: string | undefined; /** The command line that lists what there is. */ help: string };

/** Commands whose names begin with this name: `why daemonset` is below `why`, so `daemonset` is not an argument of `why`. */
export function commandsBelow(entries: readonly Entry[], name: string): Entry[] {
  return entries.filter((entry) => entry.hidden !== true && entry.name.startsWith(`${name} `));
}

/** The command named by the words before the first flag; the longest name wins. */
export function findCommand(entries: readonly Entry[], typed: readonly string[]): Found {
  const argv = withKindAlias(typed);
  const flag = argv.findIndex((word) => word.startsWith('-'));
  const words = flag < 0 ? argv : argv.slice(0, flag);
  for (let length = words.length; length > 0; length--) {
    const name = words.slice(0, length).join(' ');
    const entry = entries.find((entry) => entry.name === name);
    if (entry) return { at: 'command', entry, rest: argv.slice(length) };
  }
  const first = words[0];
  if (first === undefined) return { at: 'group', prefix: '', rest: argv };
  const inGroup = entries.filter((entry) => entry.name.startsWith(`${first} `));
  if (inGroup.length > 0 && words.length === 1) return { at: 'group', prefix: first, rest: argv.slice(1) };
  const listed = (inGroup.length > 0 ? inGroup : entries).filter((entry) => entry.hidden !== true);
  if (inGroup.length === 0) {
    const suggestion = nearest(first, [...new Set(listed.map(({ name }) => name.split(' ')[0] ?? ''))]);
    return { at: 'unknown', words: first, suggestion, help: 'dkc help' };
  }
  return {
    at: 'unknown',
    words: words.slice(0, 2).join(' '),
    suggestion: nearestBelow(first, words[1] ?? '', listed),
    help: `dkc ${first} --help`,
  };
}

/** Flags with one meaning in all commands: as in kubectl, they are allowed before the command. */
export const globals: readonly Flag[] = [
  ...connectFlags,
  namespaceFlag,
  formatFlag,
  noHeadersFlag,
  { name: 'verbose', alias: 'v', type: 'count', text: '' },
];

/** Splits `dkc --context=a -o json nodes` into the flags before the command and the rest. Stops at a flag that is not global. */
export function leadingFlags(argv: readonly string[]): { leading: readonly string[]; following: readonly string[] } {
  let at = 0;
  for (let word = argv[at]; word?.startsWith('-'); word = argv[at]) {
    const [whole = ''] = withoutAttached(globals, [word]);
    const [name = ''] = whole.split('=');
    const flag = globals.find(
      (one) =>
        name === `--${one.name}` || (one.alias !== undefined && (name === `-${one.alias}` || (/^-v+$/.test(name) && one.alias === 'v'))),
    );
    if (!flag) break;
    at += takesNext(flag) && !whole.includes('=') ? 2 : 1;
  }
  return { leading: argv.slice(0, at), following: argv.slice(at) };
}

/** kubectl's names of the kinds that `dkc why` explains. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  daemonset: ['daemonset', 'daemonsets', 'ds', 'daemonset.apps', 'daemonsets.apps'],
  statefulset: ['statefulset', 'statefulsets', 'sts', 'statefulset.apps', 'statefulsets.apps'],
  pod: ['pod', 'pods', 'po'],
};
/** Flags of these commands whose value may be the next word; a test compares them with the commands, which are loaded only after their names are known. */
const TAKE_NEXT = new Set([
  ...connectFlags.map(({ name }) => `--${name}`),
  '-n',
  '--namespace',
  '-o',
  '--output',
  '--node',
  '--daemonset-placement',
  '--config',
  '--debug-address',
]);

/**
 * Rewrites kubectl-style `dkc why` arguments, such as `why sts db`, `why pod/big`, `why -n shop ds/agent`, for our commands. Other words are unchanged.
 * @param argv - after `dkc`
 */
export function withKindAlias(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'why') return argv;
  let at = 1;
  while (argv[at]?.startsWith('-') === true) at += TAKE_NEXT.has(argv[at] ?? '') ? 2 : 1;
  const [type = '', ...rest] = (argv[at] ?? '').split('/');
  const kind = Object.entries(KINDS).find(([, words]) => words.includes(type.toLowerCase()))?.[0];
  if (kind === undefined) return argv;
  const name = rest.length === 0 ? [] : [rest.join('/')];
  return ['why', kind, ...argv.slice(1, at), ...name, ...argv.slice(at + 1)];
}

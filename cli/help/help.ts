import { basename } from 'node:path';
import { type Command, type Example, fine, type Flag, type Program } from '../command.ts';
import type { Entry } from '../commands.ts';
import { formatFlag, show } from '../output/output.ts';

/** The help topic that describes the flags of all commands on a node. */
const NODE_FLAGS_TOPIC = 'node-flags';

/** `--help` of one command: usage, description, arguments, flags, subcommands, examples. At most `width` columns. */
export function helpText(
  { name, below }: { name: string; below: readonly Entry[] },
  command: Command,
  flags: readonly Flag[],
  width: number,
): string {
  const listed = flags.filter((flag) => flag.hidden !== true);
  const [own, ofNode] = [listed.filter((flag) => !flag.ofNode), listed.filter((flag) => flag.ofNode)];
  const sections = [
    `Usage: ${usageLine(name, command)}`,
    ...command.describe.split('\n\n').map((paragraph) => wrap(paragraph.replaceAll('\n', ' '), width).join('\n')),
    section('ARGUMENTS', command.positionals.map((positional) => [positional.name.toUpperCase(), withChoices(positional)]), width), // prettier-ignore
    section('FLAGS', rows(own, own), width),
    section(name === NODE_FLAGS_TOPIC ? 'NODE FLAGS' : `NODE FLAGS (dkc help ${NODE_FLAGS_TOPIC})`, rows(ofNode, own), width),
    section('SEE ALSO', below.map((entry) => [`dkc ${entry.name}`, entry.summary]), width), // prettier-ignore
    section('EXAMPLES', command.examples.map(exampleRow), width), // prettier-ignore
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** Formats `flags` with the indentation that both lists need: help prints them one below the other. */
function rows(flags: readonly Flag[], beside: readonly Flag[]): [string, string][] {
  const lettered = [...flags, ...beside].some((flag) => flag.alias !== undefined);
  return flags.map((flag) => [flagSyntax(flag, lettered), flagDescription(flag)]);
}

export function usageLine(name: string, command: Command): string {
  const words = command.positionals.map(({ name, required, many }) => {
    const word = `${name.toUpperCase()}${many ? '..' : ''}`;
    return required ? word : `[${word}]`;
  });
  return ['dkc', name, ...words, '[flags]'].join(' ');
}

export function flagSyntax({ name, alias, type, value, implied }: Flag, lettered: boolean): string {
  const letter = alias === undefined ? (lettered ? '    ' : '') : `-${alias}, `;
  const wants =
    type === 'boolean' || type === 'count' ? '' : `=${value ?? (type === 'string' ? 'TEXT' : type === 'number' ? 'N' : 'TIME')}`;
  return `${letter}--${name}${implied === undefined ? wants : `[${wants}]`}`;
}

export function flagDescription(flag: Flag): string {
  const shown = flag.defaultText ?? (flag.default === undefined || flag.default === '' ? '' : String(flag.default));
  const notes = [flag.required ? 'required' : '', shown === '' ? '' : `default: ${shown}`].filter((note) => note !== '');
  return `${withChoices(flag)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

const withChoices = ({ text, choices, prefixes = [] }: Pick<Flag, 'text' | 'choices' | 'prefixes'>): string =>
  choices ? `${text}: ${[...choices, ...prefixes.map((prefix) => `${prefix}..`)].join(', ')}` : text;

const exampleRow = ({ run, what }: Example): [string, string] => [run, what === '' ? '' : `# ${what}`];

/** Two columns; a very long word on the left gets a separate line. */
function section(title: string, rows: readonly (readonly [string, string])[], width: number): string {
  if (rows.length === 0) return '';
  const left = Math.min(Math.max(...rows.map(([word]) => word.length)), Math.floor(width / 2));
  const indent = ' '.repeat(left + 5);
  const lines = rows.flatMap(([word, text]) => {
    const [first = '', ...rest] = wrap(text, Math.max(width - left - 5, 20));
    const head = word.length > left ? [`  ${word}`, `${indent}${first}`] : [`  ${word.padEnd(left)}   ${first}`];
    return [...head, ...rest.map((line) => `${indent}${line}`)].map((line) => line.trimEnd());
  });
  return [title, ...lines].join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const groups: readonly Entry['group'][] = ['On a node', 'Configuration files', 'Fleet', 'Controllers', 'Scheduler', 'Other commands'];

/** Output of `dkc help`: every command under its section, or those that begin with `prefix`. */
export function overview(entries: readonly Entry[], prefix: string): string {
  const shown = entries.filter((entry) => entry.hidden !== true && (prefix === '' || entry.name.startsWith(`${prefix} `)));
  const width = Math.max(...shown.map((entry) => entry.name.length));
  const sections = groups.flatMap((group) => {
    const lines = shown.filter((entry) => entry.group === group).map((entry) => `  ${entry.name.padEnd(width)}   ${entry.summary}`);
    return lines.length === 0 ? [] : [[group.toUpperCase(), ...lines].join('\n')];
  });
  const title =
    prefix === ''
      ? 'dkc rolls out kubelet configuration to live nodes, and rolls back automatically when it breaks the kubelet.\n\nUsage: dkc COMMAND [flags]'
      : `Usage: dkc ${prefix} COMMAND [flags]`;
  const demo = prefix === '' ? '\n  dkc demo' : '';
  const last = `EXAMPLES\n  dkc help ${shown[0]?.name ?? ''}${demo}\n\nExit codes: 0 success, 1 check failed, 2 usage error, 3 operation failed.`;
  return `${[title, ...sections, last].join('\n\n')}\n`;
}

/**
 * The name that the user called: as a plugin of kubectl the bundle is called `kubectl-dkc`.
 * @param script - process.argv[1]; a launcher puts its own name in $DKC_CALLED_AS
 */
export function programName(env: Readonly<Record<string, string | undefined>>, script: string | undefined): Program {
  const called = basename(env['DKC_CALLED_AS'] || script || '');
  return /^kubectl-dkc(?:\.[cm]?js)?$/.test(called) ? 'kubectl dkc' : 'dkc';
}

/** Replaces `dkc COMMAND` in a text by what the user has to type. @param firstWords - first words of commands, and `help` */
export function asTyped(program: Program, firstWords: ReadonlySet<string>, text: string): string {
  if (program === 'dkc') return text;
  return text.replace(/(?<![\w./-])dkc (?=(\S+))/g, (found, next: string) =>
    firstWords.has(next.replace(/[^A-Za-z_-].*$/, '')) ? `${program} ` : found,
  );
}

export const version: Command = {
  describe: 'Prints the version of dkc, the commit it was built from and the Node.js it runs on.',
  examples: [
    { run: 'dkc version', what: 'for people' },
    { run: 'dkc version -o json', what: 'for scripts' },
  ],
  flags: [formatFlag],
  positionals: [],
  async run(context, args) {
    const { version, commit, node } = context.build;
    await show(context, args, { data: { version, commit, node }, people: () => `dkc ${version} (${commit}), Node.js ${node}\n` });
    return fine;
  },
};

import { flagDescription, flagSyntax, usageLine } from '../../cli/help/help.ts';
import type { Command, Flag } from '../../cli/command.ts';
import type { Entry } from '../../cli/commands.ts';

interface About {
  version: string;
  /** `YYYY-MM-DD`. */
  date: string;
}

/** Escapes text for roff, in which backslashes, minus signs and leading dots have a meaning. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const pageName = (name: string): string => ['dkc', ...name.split(' ')].join('-').replace(/-$/, '');
const heading = (name: string, { version, date }: About): string =>
  `.TH "${roff(pageName(name).toUpperCase())}" 1 "${date}" "dkc ${version}" "Dynamic Kubelet Config"\n.nh\n`;
const section = (title: string, body: string): string => (body === '' ? '' : `.SH ${title}\n${body}`);
const items = (rows: readonly (readonly [string, string])[]): string =>
  rows.map(([term, text]) => `.TP\n\\fB${roff(term.trim())}\\fR\n${roff(text)}\n`).join('');
const exitStatus = items([
  ['0', 'success'],
  ['1', 'check failed: the command looked, and found something wrong'],
  ['2', 'usage error'],
  ['3', 'operation failed'],
]);

/** The manual page of one command, from the data of its `--help`. @returns file name and text */
export function commandPage(
  entry: Entry,
  command: Command,
  flags: readonly Flag[],
  below: readonly Entry[],
  about: About,
): [string, string] {
  const listed = flags.filter(({ hidden }) => hidden !== true);
  const rows = (of: readonly Flag[]): string => items(of.map((flag) => [flagSyntax(flag, false), flagDescription(flag)]));
  const paragraphs = command.describe.split('\n\n').map((text) => `${roff(text.replaceAll('\n', ' '))}\n`);
  const others = ['dkc', ...below.map(({ name }) => pageName(name))].map((name) => `.BR ${roff(name)} (1)`);
  const text = [
    heading(entry.name, about),
    section('NAME', `${roff(pageName(entry.name))} \\- ${roff(entry.summary)}\n`),
    section('SYNOPSIS', `${roff(usageLine(entry.name, command))}\n`),
    section('DESCRIPTION', paragraphs.join('.PP\n')),
    section('ARGUMENTS', items(command.positionals.map(({ name, text }) => [name.toUpperCase(), text]))),
    section('FLAGS', rows(listed.filter(({ ofNode }) => !ofNode))),
    section('"NODE FLAGS"', rows(listed.filter(({ ofNode }) => ofNode))),
    section('"EXIT STATUS"', exitStatus),
    section(
      'EXAMPLES',
      command.examples.map(({ run, what }) => `.TP\n${roff(what === '' ? run : what)}\n.EX\n${roff(run)}\n.EE\n`).join(''),
    ),
    section('"SEE ALSO"', `${others.join(',\n')}\n`),
  ];
  return [`${pageName(entry.name)}.1`, text.join('')];
}

/** `dkc(1)`: all commands by section. */
export function overviewPage(entries: readonly Entry[], about: About): [string, string] {
  const shown = entries.filter(({ hidden }) => hidden !== true);
  const groups = [...new Set(shown.map(({ group }) => group))];
  const text = [
    heading('', about),
    section('NAME', 'dkc \\- rolls out kubelet configuration to live nodes, and rolls back automatically when it breaks the kubelet\n'),
    section('SYNOPSIS', 'dkc COMMAND [flags]\n'),
    ...groups.map((group) =>
      section(
        `"${group.toUpperCase()}"`,
        items(
          shown
            .filter((entry) => entry.group === group)
            .map((entry) => [`dkc ${entry.name}`, `${entry.summary}; see ${pageName(entry.name)}(1)`]),
        ),
      ),
    ),
    section('"EXIT STATUS"', exitStatus),
    section(
      'FILES',
      items([
        ['/etc/dkc/agent.yaml', 'settings of the agent and of the commands on a node, each explained there'],
        ['/var/lib/dkc', 'checkpoints, records and the effective kubelet configuration'],
        ['/run/dkc', 'what the kubelet was started with, and its exits'],
      ]),
    ),
  ];
  return ['dkc.1', text.join('')];
}

import { commandsBelow, findCommand, globals, leadingFlags } from '../dispatch.ts';
import { takesNext } from '../args/args.ts';
import { allFlags } from '../args/parse.ts';
import { noHeadersFlag } from '../output/output.ts';
import type { Command, Completes, Flag, Positional } from '../command.ts';
import type { Entry } from '../commands.ts';

export interface Candidate {
  value: string;
  /** Description, for shells that show one. */
  text: string;
}

/** What a shell may offer. With `files` the shell adds names of files or directories. */
export interface Offer {
  candidates: readonly Candidate[];
  files?: 'file' | 'dir';
}

/** Looks up names on the node or the API server. `given` are the words so far, for flags such as --kubeconfig. */
export type LookUp = (what: Exclude<Completes, 'file' | 'dir'>, given: readonly string[]) => Promise<readonly Candidate[]>;

/** The flags that are allowed before the command. `--no-headers` comes with `-o`. */
const anyCommand = { flags: globals.filter(({ name }) => name !== noHeadersFlag.name), positionals: [] };

/** @param words - after `dkc`; the last one is being typed */
export async function complete(entries: readonly Entry[], words: readonly string[], lookUp: LookUp): Promise<Offer> {
  const typed = words.at(-1) ?? '';
  const { leading, following: before } = leadingFlags(words.slice(0, -1));
  if (before.length === 0 && (typed.startsWith('-') || waitsIn(globals, leading)))
    return begins(await inCommand(anyCommand, leading, typed, words, lookUp), typed);
  const isHelp = before[0] === 'help';
  const found = findCommand(entries, isHelp ? before.slice(1) : before);
  if (found.at === 'command') {
    const below = found.rest.length === 0 ? nextNames(commandsBelow(entries, found.entry.name), found.entry.name) : [];
    if (isHelp) return begins({ candidates: below }, typed);
    const offer = await inCommand(await found.entry.load(), found.rest, typed, words, lookUp);
    return begins({ ...offer, candidates: [...below, ...offer.candidates] }, typed);
  }
  if (found.at !== 'group' || before.some((word) => word.startsWith('-'))) return { candidates: [] };
  const listed = entries.filter((entry) => entry.hidden !== true);
  const extra = before.length === 0 ? [{ value: 'help', text: 'List the commands' }] : [];
  return begins({ candidates: [...nextNames(listed, found.prefix), ...extra] }, typed);
}

/** Descriptions of first words that several commands share. */
const groupSummaries: Readonly<Record<string, string>> = {
  agent: "Run this node's agent",
  checkpoints: "List, show, compare and check the node's checkpoints",
  controllers: 'Run the DaemonSet, StatefulSet and rollout controllers',
  scheduler: 'Run the scheduler, or check its configuration',
  rollout: 'Roll a configuration out over the fleet, step by step',
  deploy: 'Print the manifests for the API server',
};

function nextNames(entries: readonly Entry[], prefix: string): Candidate[] {
  const words = new Map<string, string>();
  for (const { name, summary } of entries) {
    const rest = prefix === '' ? name : name.startsWith(`${prefix} `) ? name.slice(prefix.length + 1) : undefined;
    if (rest === undefined) continue;
    const [word = '', ...more] = rest.split(' ');
    if (!words.has(word)) words.set(word, more.length === 0 ? summary : (groupSummaries[word] ?? `${word} ...`));
  }
  return [...words].map(([value, text]) => ({ value, text }));
}

/** The flag at the end of the line whose value comes next; undefined if there is none. */
function waitsIn(flags: readonly Flag[], line: readonly string[]): Flag | undefined {
  const last = line.at(-1);
  const flag = last === undefined || last.includes('=') ? undefined : flagCalled(flags, last);
  return flag && takesNext(flag) ? flag : undefined;
}

async function inCommand(
  command: Pick<Command, 'flags' | 'positionals'>,
  rest: readonly string[],
  typed: string,
  given: readonly string[],
  lookUp: LookUp,
): Promise<Offer> {
  const flags = allFlags(command).filter((flag) => flag.hidden !== true);
  const [, inlineName, inlineValue] = /^(--[^=]+=)(.*)$/.exec(typed) ?? [];
  if (inlineName !== undefined && inlineValue !== undefined) {
    const offer = await valuesOf(flagCalled(flags, inlineName.slice(0, -1)), inlineValue, given, lookUp);
    return { ...offer, candidates: offer.candidates.map(({ value, text }) => ({ value: `${inlineName}${value}`, text })) };
  }
  const waiting = waitsIn(flags, rest);
  if (waiting) return await valuesOf(waiting, typed, given, lookUp);
  if (typed.startsWith('-')) return { candidates: flags.map(({ name, text }) => ({ value: `--${name}`, text })) };
  return await valuesOf(positionalAt(command.positionals, countPositionals(flags, rest)), typed, given, lookUp);
}

function flagCalled(flags: readonly Flag[], word: string): Flag | undefined {
  return flags.find((flag) => word === `--${flag.name}` || (flag.alias !== undefined && word === `-${flag.alias}`));
}

function countPositionals(flags: readonly Flag[], rest: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('-') || word === '-') count++;
    else if (!word.includes('=') && takesNext(flagCalled(flags, word) ?? { name: '', type: 'boolean', text: '' })) at++;
  }
  return count;
}

function positionalAt(positionals: readonly Positional[], index: number): Positional | undefined {
  return positionals[index] ?? (positionals.at(-1)?.many ? positionals.at(-1) : undefined);
}

/** Text that may precede a name that is being typed: `a,` of the list `a,b`, `node/` of `node/a`. */
const BEFORE_NAME: Readonly<Partial<Record<Completes, RegExp>>> = { node: /^(?:.*,)?(?:(?:nodes?|no)\/)?/, rollout: /^(?:[a-z.]+\/)?/ };

async function valuesOf(of: Flag | Positional | undefined, typed: string, given: readonly string[], lookUp: LookUp): Promise<Offer> {
  if (!of) return { candidates: [] };
  if ('type' in of && of.type === 'boolean') return { candidates: ['true', 'false'].map((value) => ({ value, text: '' })) };
  const offers = 'type' in of ? of.offers : undefined;
  const prefixes = 'type' in of ? (of.prefixes ?? []) : [];
  const choices = [...(of.choices ?? offers ?? []), ...prefixes].map((value) => ({ value, text: '' }));
  if (of.completes === undefined) return { candidates: choices };
  if (of.completes === 'file' || of.completes === 'dir') return { candidates: choices, files: of.completes };
  const before = BEFORE_NAME[of.completes]?.exec(typed)?.[0] ?? '';
  const named = (await lookUp(of.completes, given)).map(({ value, text }) => ({ value: `${before}${value}`, text }));
  return { candidates: [...choices, ...named] };
}

const begins = (offer: Offer, typed: string): Offer => ({
  ...offer,
  candidates: offer.candidates.filter(({ value }) => value.startsWith(typed)),
});

/**
 * Splits the text before the cursor like a shell, as far as completion needs: blanks, quotes, backslashes.
 * @returns the words; the last one is being typed and may be empty
 */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const c = line.charAt(at);
    if (quote === "'" ? c === "'" : quote === '"' && c === '"') quote = '';
    else if (c === '\\' && quote !== "'") word += line.charAt(++at);
    else if (quote !== '') word += c;
    else if (c === '"' || c === "'") quote = c;
    else if (c === ' ' || c === '\t' || c === '\n') {
      if (word !== '' || at > 0) words.push(word);
      word = '';
    } else word += c;
  }
  words.push(word);
  return words.filter((one, at) => one !== '' || at === words.length - 1);
}

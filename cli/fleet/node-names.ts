import { type LabelSelector, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import { UsageError } from '../failure.ts';
import type { Args } from '../args/args.ts';
import type { Flag, Positional } from '../command.ts';

/** The nodes that a command acts on. */
export type Choice = { by: 'name'; names: readonly string[] } | { by: 'selector'; labelSelector: string | undefined };

export const nodePositional: Positional = { name: 'node', text: 'names of nodes; also node/NAME and A,B', many: true, completes: 'node' };

export const selectorFlag: Flag = { name: 'selector', alias: 'l', type: 'string', value: 'LABELS', text: 'only nodes with these labels' };
export const allFlag: Flag = { name: 'all', type: 'boolean', text: 'all nodes' };

/** Maximum length of a Node's name, a DNS subdomain in lower case. */
const MAX_NAME = 253;

/** The names on a command line: `a b`, `a,b`, `node/a`, each once, in the order given. @throws {UsageError} for an invalid Node name */
export function nodeNames(command: string, words: readonly string[]): string[] {
  const names = words.flatMap((word) => word.split(',')).map((word) => nodeName(command, word.trim()));
  return [...new Set(names)];
}

function nodeName(command: string, word: string): string {
  const name = word.replace(/^(?:nodes?|no)\//, '');
  const problem =
    name === '' ? 'must not be empty' : name.length > MAX_NAME ? `must not be longer than ${MAX_NAME} characters` : characterProblem(name);
  if (problem === undefined) return name;
  throw new UsageError(`${command}: invalid node name ${JSON.stringify(word.slice(0, 80))}: ${problem}; see dkc ${command} --help`);
}

function characterProblem(name: string): string | undefined {
  if (name.includes('/')) return `must not contain "/" (use ${JSON.stringify(name.slice(name.lastIndexOf('/') + 1))})`;
  if (/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(name)) return undefined;
  return 'must be lower case letters, digits, "-" and "."';
}

/** @throws {UsageError} unless exactly one of names, `-l` and `--all` is given */
export function chosenNodes(command: string, args: Args): Choice {
  const names = nodeNames(command, args.many('node'));
  const labelSelector = selectorText(command, args);
  const all = args.on('all');
  const ways = [names.length > 0, labelSelector !== undefined, all].filter(Boolean).length;
  if (ways === 0) throw new UsageError(`${command}: NODE is missing: name nodes, or give -l SELECTOR or --all; see dkc ${command} --help`);
  if (ways > 1) throw new UsageError(`${command}: names, -l and --all cannot be combined; see dkc ${command} --help`);
  if (labelSelector?.trim() === '') throw new UsageError(`${command}: --selector is empty; --all means every node`);
  return names.length > 0 ? { by: 'name', names } : { by: 'selector', labelSelector };
}

/** The text of `-l`. @throws {UsageError} as {@link readSelector} */
export function selectorText(command: string, args: Args): string | undefined {
  const text = args.text('selector');
  if (text !== undefined) readSelector(command, text);
  return text;
}

/** Parses a label selector. @throws {UsageError} for a text that the API server would reject; no request is sent */
export function readSelector(command: string, text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    const must = `--selector must be a label selector such as pool=web,tier!=test: ${error.message}`;
    throw new UsageError(`${command}: ${must}; see dkc ${command} --help`);
  }
}

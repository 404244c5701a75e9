import { commands } from '../commands.ts';
import { printable } from '../output/printable.ts';
import { askWorld } from './ask.ts';
import { complete } from './candidates.ts';
import type { Context } from '../command.ts';

/** Bits of Cobra's ShellCompDirective, which kubectl hands to the shell. */
const NO_FILES = 4;
const FILES = 0;
/** Names of directories alone. */
const DIRECTORIES = 16;

/**
 * What `kubectl_complete-dkc` prints: kubectl 1.26 and newer runs it with the words after `kubectl dkc`, the last one being typed. A candidate a line, a
 * tab before its text, and in the last line what the shell may add.
 * @see https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
 */
export async function completeForKubectl(context: Context, words: readonly string[]): Promise<number> {
  const { candidates, files } = await complete(commands, words, askWorld(context));
  const lines = candidates.map(({ value, text }) => (text === '' ? printable(value) : `${printable(value)}\t${printable(text)}`));
  const directive = files === undefined ? NO_FILES : files === 'dir' ? DIRECTORIES : FILES;
  context.stdout.write([...lines, `:${directive}`].map((line) => `${line}\n`).join(''));
  return 0;
}

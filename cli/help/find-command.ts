import { nearest } from '../../base/nearest.ts';
import { inKindWords } from '../explain/kinds.ts';
import type { Entry } from '../commands.ts';

export type Found =
  | { at: 'command'; entry: Entry; rest: readonly string[] }
  /** A prefix of commands such as `checkpoints`, or nothing at all. */
  | { at: 'group'; prefix: string; rest: readonly string[] }
  | { at: 'unknown'; words: string; suggestion: string | undefined };

/** Commands that are named by a command's own words and more: `why daemonset` is below `why`, and has the word for itself. */
export function commandsBelow(entries: readonly Entry[], name: string): Entry[] {
  return entries.filter((entry) => entry.hidden !== true && entry.name.startsWith(`${name} `));
}

/** The command that the words before the first flag name; the longest name wins. */
export function findCommand(entries: readonly Entry[], typed: readonly string[]): Found {
  const argv = inKindWords(typed);
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
  const asked = words.slice(0, inGroup.length > 0 ? 2 : 1).join(' ');
  const names = (inGroup.length > 0 ? inGroup : entries).filter((entry) => entry.hidden !== true).map((entry) => entry.name);
  return { at: 'unknown', words: asked, suggestion: nearest(asked, names) };
}

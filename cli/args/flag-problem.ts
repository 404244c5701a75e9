import { nearest } from '../../base/nearest.ts';
import type { Flag } from '../command.ts';

// Two parsers read command lines (`agent run` loads no library); they complain in the same words, kubectl's.

export const needsValue = (name: string): string => `--${name} needs a value`;

/** An unknown flag as it was typed, and what was probably meant. */
export function unknownFlag(typed: string, name: string, flags: readonly Flag[]): string {
  const listed = flags.filter((flag) => flag.hidden !== true).map((flag) => flag.name);
  const found = nearest(name, listed);
  return `unknown flag ${typed}${found === undefined ? '' : `, did you mean --${found}?`}`;
}

import { describeError } from '../base/errors.ts';
import { printable } from './printable.ts';

/** The command line itself is wrong: exit 2. The message is one sentence with its remedy. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const USAGE = 2;
export const FAILED = 3;

/** Exit code of a thrown error: design 7. */
export function exitCodeOf(error: unknown): 2 | 3 {
  return error instanceof UsageError ? USAGE : FAILED;
}

/** One line for stderr: what, on which object, remedy. With `verbose` the stack follows. */
export function failureText(error: unknown, verbose: boolean): string {
  // An error of Node's own or a bug has no remedy of its own: say how to see more.
  const ours = error instanceof Error && error.name !== 'Error' && error.name !== 'TypeError' && error.name !== 'RangeError';
  const line = printable(describeError(error)).replace(/\s+/g, ' ');
  if (verbose) return `dkc: ${line}\n${error instanceof Error ? (error.stack ?? '') : ''}\n`;
  return `dkc: ${line}${ours ? '' : '; -v shows where'}\n`;
}

import { ActionError, describeError, errorCode, PERMISSION_DENIED } from '../base/errors.ts';
import { printable } from './output/printable.ts';

/** The command line itself is wrong: exit 2. The message is one sentence with its remedy. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Ctrl-C: exit 130, as shells expect. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  constructor() {
    super('interrupted');
  }
}

export const USAGE = 2;
export const FAILED = 3;
const INTERRUPTED = 130;

/** Exit code of a thrown error. */
export function exitCodeOf(error: unknown): 2 | 3 | 130 {
  if (error instanceof Interrupted) return INTERRUPTED;
  return error instanceof UsageError ? USAGE : FAILED;
}

const remedies: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link; name its target',
  EACCES: PERMISSION_DENIED,
  EPERM: 'not permitted; run this as root',
  EROFS: 'its file system is read-only; see the kernel log',
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the disk quota is exceeded; free some space',
  EIO: 'I/O error; see the kernel log',
};

/** Adds a remedy to a system error about a file. A fallback: code that knows the purpose of the file throws a better error. */
function withRemedy(error: unknown): unknown {
  const hint = remedies[errorCode(error) ?? ''];
  if (hint === undefined || !(error instanceof Error) || error.name !== 'Error') return error;
  const { syscall, path } = error as NodeJS.ErrnoException;
  return new ActionError(syscall ?? 'use', path ?? 'a file', { hint, cause: error });
}

/** One line for stderr: what, on which object, remedy. With `verbose` the stack follows. */
export function failureText(thrown: unknown, verbose: boolean): string {
  const error = withRemedy(thrown);
  // An error of Node.js or a bug has no remedy: point to -v for the stack.
  const ours = error instanceof Error && error.name !== 'Error' && error.name !== 'TypeError' && error.name !== 'RangeError';
  const line = printable(describeError(error)).replace(/\s+/g, ' ');
  if (verbose) return `dkc: ${line}\n${thrown instanceof Error ? (thrown.stack ?? '') : ''}\n`;
  return `dkc: ${line}${ours ? '' : '; use -v for a stack trace'}\n`;
}

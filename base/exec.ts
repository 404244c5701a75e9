import { execFile } from 'node:child_process';
import type { Millis } from './clock.ts';
import { describeError } from './errors.ts';

export interface Ran {
  /** Exit code; null when it was killed or never started. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. Never throws: for a missing program `code` is null, and `stderr` has the reason. */
export type Exec = (
  program: string,
  args: readonly string[],
  options?: { timeoutMs?: Millis; env?: Record<string, string>; signal?: AbortSignal; /** For its standard input. */ input?: string },
) => Promise<Ran>;

// The expected output of programs is short; longer output is an error.
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export const realExec: Exec = (program, args, options = {}) =>
  // Some errors of starting a program (ENOTDIR, E2BIG, a NUL in an argument) are thrown, not passed to the callback.
  new Promise<Ran>((resolve) => {
    const child = execFile(
      program,
      args,
      {
        timeout: options.timeoutMs ?? 5000,
        // A program that hangs may ignore SIGTERM, and the caller waits for its end.
        killSignal: 'SIGKILL',
        maxBuffer: MAX_ANSWER_BYTES,
        encoding: 'utf8',
        ...(options.env ? { env: { ...process.env, ...options.env } } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        resolve({ code, stdout, stderr: error !== null && stderr === '' ? error.message : stderr });
      },
    );
    if (options.input === undefined) return;
    // A program that exits before it has read all of its input reports the reason itself.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
  }).catch((error: unknown): Ran => ({ code: null, stdout: '', stderr: describeError(error) }));

import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { type Millis, monotonicMs } from './clock.ts';
import { describeError, errorCode } from './errors.ts';

/** A held lock. Releasing twice is harmless; the kernel releases it when the process dies. */
export interface HeldLock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Locks named by a path. */
export interface Locks {
  /**
   * Takes the lock of `path` for this process alone.
   * @param waitMs - longest wait, in ms; 0 tries once
   * @throws {LockError} when another process holds it for all that time, or its file cannot be opened
   */
  take(path: string, waitMs: number): Promise<HeldLock>;
}

/** The lock was not acquired: another process holds it, or it cannot be taken at all. */
export class LockError extends Error {
  override name = 'LockError';
  readonly path: string;
  constructor(path: string, hint: string, options?: { cause: unknown }) {
    super(`Cannot lock ${path}: ${hint}`, options);
    this.path = path;
  }
}

// Exit code that flock(1) is told to use for "another process holds the lock", different from those of its own errors.
const HELD_BY_ANOTHER = 75;

/**
 * Locks that the kernel releases when their holder dies, however it dies.
 *
 * Node has no flock(2). The program flock(1) locks the open file that it inherits, and that lock belongs to the open file description, which both processes
 * share: it outlives the program and ends with the last descriptor of this process. The lock file itself stays; removing it would let two holders lock two
 * files of one name.
 * @param program - flock(1) of util-linux. @default 'flock', found through PATH
 */
export function flockLocks(program = 'flock'): Locks {
  return {
    take: async (path, waitMs) => {
      const deadline = monotonicMs() + waitMs;
      for (;;) {
        const file = openLockFile(path);
        try {
          await runFlock(program, path, file, Math.max(0, deadline - monotonicMs()));
          if (isStillAt(path, file)) return heldLock(file);
        } catch (error) {
          closeSync(file);
          throw error;
        }
        // The file was removed or replaced during the wait: a lock on it excludes no other process.
        closeSync(file);
      }
    },
  };
}

export const flock: Locks = flockLocks();

function heldLock(file: number): HeldLock {
  let isHeld = true;
  const release = async () => {
    if (isHeld) closeSync(file);
    isHeld = false;
  };
  return { release, [Symbol.asyncDispose]: release };
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'run this as the user that owns it, mostly root',
  EISDIR: 'a directory is in its place: move that away',
  ELOOP: 'a symbolic link is in its place: move that away',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
};

/** @returns its descriptor */
function openLockFile(path: string): number {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  try {
    // Reading is enough for a lock, and works on a disk that has become read-only.
    return openSync(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    const remedy = remedies[errorCode(error) ?? ''] ?? 'the file cannot be opened';
    throw new LockError(path, `${remedy} (${describeError(error)})`, { cause: error });
  }
}

function isStillAt(path: string, file: number): boolean {
  const mine = fstatSync(file);
  const there = statSync(path, { throwIfNoEntry: false });
  return there?.ino === mine.ino && there.dev === mine.dev;
}

function runFlock(program: string, path: string, file: number, waitMs: Millis): Promise<void> {
  const wait = waitMs > 0 ? ['-w', (waitMs / 1000).toFixed(3)] : ['-n'];
  const args = ['-x', '-E', String(HELD_BY_ANOTHER), ...wait, '3'];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe', file] });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 1000) said += text;
    });
    child.once('error', (error) => {
      const hint =
        errorCode(error) === 'ENOENT' ? `the program ${program} is missing: install the package util-linux` : describeError(error);
      reject(new LockError(path, hint, { cause: error }));
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else if (code === HELD_BY_ANOTHER) reject(new LockError(path, heldText(path, waitMs)));
      else reject(new LockError(path, `${program} exited with ${signal ?? `status ${code}`}${said === '' ? '' : `: ${said.trim()}`}`));
    });
  });
}

function heldText(path: string, waitMs: Millis): string {
  const tried = waitMs > 0 ? `, and kept it for ${Math.round(waitMs)} ms` : '';
  return `another process holds it${tried}; try again, or find it with: fuser -v ${path}`;
}

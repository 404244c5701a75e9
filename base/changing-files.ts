import { dirname } from 'node:path';
import { ActionError, describeError, errorCode } from './errors.ts';
import type { Clock, Millis } from './clock.ts';
import type { Disk, Stat } from './disk.ts';
import type { Log } from './log.ts';

/** Reports changes of files, existing or not, until the signal aborts. Several changes may be reported as one; none is missed. */
export type WatchFiles = (paths: readonly string[], onChange: (path: string) => void, signal: AbortSignal) => Promise<void>;

// inotify can run out of watches, and network file systems have none: the poll detects what it misses.
const POLL_MS: Millis = 10_000;

/**
 * chokidar, and a slow poll of size and time. Watches the directories of `paths`: a file that is replaced by rename is another file each time, and a missing
 * file cannot be watched. Only the poll detects changes of the target of a link.
 */
export function fileWatcher(disk: Pick<Disk, 'stat' | 'realPath'>, clock: Clock, log: Log): WatchFiles {
  return async (paths, onChange, signal) => {
    const { watch } = await import('chokidar');
    if (signal.aborted) return;
    const seen = new Map<string, string>();
    const look = async (path: string, told = false): Promise<void> => {
      const now = await stateOf(path, disk);
      const before = seen.get(path);
      seen.set(path, now);
      if (told || (before !== undefined && before !== now)) onChange(path);
    };
    for (const path of paths) await look(path);
    const watched = new Set(paths);
    const directories = [...new Set(paths.map((path) => dirname(path)))];
    const watcher = watch(directories, {
      depth: 0,
      ignoreInitial: true,
      persistent: false,
      ignored: (path) => !watched.has(path) && !directories.includes(path),
    });
    watcher.on('all', (_kind, path) => {
      if (watched.has(path)) void look(path, true);
    });
    watcher.on('error', (error) => log.warn('files cannot be watched; polling them', { directories, error: describeError(error) }));
    try {
      while (!signal.aborted) {
        await clock.sleep(POLL_MS, signal);
        for (const path of paths) await look(path);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await watcher.close();
    }
  };
}

/** As text, for comparison. A link has the state of its target, since readers follow it: configurations are mounted behind links that are swapped. */
async function stateOf(path: string, disk: Pick<Disk, 'stat' | 'realPath'>): Promise<string> {
  const written = (stat: Stat | undefined): string => (stat ? `${stat.bytes} ${stat.modifiedMs} ${stat.kind}` : 'absent');
  const found = await disk.stat(path).catch(() => undefined);
  if (found?.kind !== 'other') return written(found);
  const real = await disk.realPath(path).catch(() => undefined);
  return real === undefined ? written(found) : `${real} ${written(await disk.stat(real).catch(() => undefined))}`;
}

/**
 * Identifies a version of a file: a rotated secret is a new file behind a link, an edited file has a new time. Copying a file with its time (`cp -p`, rsync,
 * a package) sets mtime; ctime cannot be set.
 */
type Version = { mtimeMs: number; ctimeMs: number; ino: number; size: number };

const LARGEST = 4 * 1024 * 1024;

/**
 * A file whose newest readable content counts. One `stat` per call, a read only after a change; links are followed, because secrets are mounted behind links
 * that are swapped as a whole.
 */
export class FreshFile {
  readonly path: string;
  readonly #what: string;
  #version: Version | undefined;
  #text: string | undefined;

  /** @param what - what the file is, for errors: `token file` */
  constructor(path: string, what: string) {
    this.path = path;
    this.#what = what;
  }

  /**
   * The text of the file; the last valid text while a rotation leaves the file missing or empty for a moment.
   * @throws {ActionError} when it was never readable
   */
  async text(): Promise<string> {
    try {
      const { readFile, stat } = await import('node:fs/promises');
      const found = await stat(this.path);
      const { mtimeMs, ctimeMs, ino, size } = found;
      const version = { mtimeMs, ctimeMs, ino, size };
      if (this.#text !== undefined && this.#version !== undefined && isSame(version, this.#version)) return this.#text;
      // A fifo would block forever, a device is a mistake; for a directory the read itself fails.
      if (!found.isFile() && !found.isDirectory()) throw this.#error('it is not a regular file');
      if (found.size > LARGEST) throw this.#error(`it has ${found.size} bytes, the limit is ${LARGEST}`);
      const text = await readFile(this.path, 'utf8');
      if (text.trim() === '') throw this.#error('it is empty');
      this.#version = version;
      this.#text = text;
      return text;
    } catch (error) {
      if (this.#text !== undefined) return this.#text;
      if (error instanceof ActionError) throw error;
      throw this.#error(hintFor(errorCode(error)), error);
    }
  }

  #error(hint: string, cause?: unknown): ActionError {
    return new ActionError(`read ${this.#what}`, this.path, cause === undefined ? { hint } : { hint, cause });
  }
}

function isSame(left: Version, right: Version): boolean {
  return left.mtimeMs === right.mtimeMs && left.ctimeMs === right.ctimeMs && left.ino === right.ino && left.size === right.size;
}

const hints: Readonly<Record<string, string>> = {
  ENOENT: 'no such file; correct the path',
  ENOTDIR: 'a part of its path is not a directory; correct the path',
  ELOOP: 'its symbolic link leads back to itself; correct the link',
  ENAMETOOLONG: 'its name is too long; correct the path',
  EISDIR: 'it is a directory; correct the path',
  EACCES: 'permission denied; correct its owner or mode',
  EPERM: 'permission denied; correct its owner or mode',
};

const hintFor = (code: string | undefined): string => hints[code ?? ''] ?? 'I/O error; see the kernel log';

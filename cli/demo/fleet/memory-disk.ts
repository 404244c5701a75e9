import { basename, dirname, join } from 'node:path';
import type { Disk, Stat } from '../../../base/disk.ts';
import { defaultReadLimit, systemError } from '../../../base/durable-disk.ts';
import type { Locks } from '../../../base/lock.ts';

interface File {
  bytes: Uint8Array;
  mode: number;
  modifiedMs: number;
}

/**
 * The in-memory disk of one fake node. Every operation is immediate and atomic, and nothing is ever lost: it does not simulate a power
 * failure. It notifies watchers of every changed file, so that nothing has to poll.
 */
export class MemoryDisk implements Disk {
  readonly #now: () => number;
  readonly #files = new Map<string, File>();
  readonly #dirs = new Map<string, number>([['/', 0o755]]);
  readonly #watchers = new Set<{ paths: readonly string[]; onChange: (path: string) => void }>();

  /** @param now - wall clock, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `onChange` after each change of one of these files, until the signal aborts. */
  watch(paths: readonly string[], onChange: (path: string) => void, signal: AbortSignal): Promise<void> {
    const watcher = { paths, onChange };
    return new Promise((resolve) => {
      const end = (): void => {
        this.#watchers.delete(watcher);
        resolve();
      };
      if (signal.aborted) return end();
      this.#watchers.add(watcher);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  async read(path: string, limit = defaultReadLimit): Promise<Uint8Array> {
    const { bytes } = this.#file(path);
    if (bytes.length > limit) throw new RangeError(`${path} is larger than ${limit} bytes`);
    return bytes.slice();
  }

  readLinked(path: string, limit?: number): Promise<Uint8Array> {
    return this.read(path, limit);
  }

  async readEnd(path: string, limit: number): Promise<Uint8Array> {
    const { bytes } = this.#file(path);
    return bytes.slice(Math.max(0, bytes.length - limit));
  }

  async stat(path: string): Promise<Stat | undefined> {
    const file = this.#files.get(path);
    if (file) return { kind: 'file', bytes: file.bytes.length, mode: file.mode, modifiedMs: file.modifiedMs };
    const mode = this.#dirs.get(path);
    return mode === undefined ? undefined : { kind: 'dir', bytes: 0, mode, modifiedMs: 0 };
  }

  async realPath(path: string): Promise<string> {
    if (!this.#exists(path)) throw systemError('ENOENT', 'no such file', path);
    return path;
  }

  async capacity(): Promise<bigint | undefined> {
    return undefined;
  }

  async list(path: string): Promise<string[]> {
    this.#dir(path);
    return this.#below(path)
      .filter((one) => dirname(one) === path)
      .map((one) => basename(one))
      .toSorted();
  }

  async makeDir(path: string, mode = 0o755): Promise<void> {
    if (this.#files.has(path)) throw systemError('ENOTDIR', 'not a directory', path);
    for (let at = path; !this.#dirs.has(at); at = dirname(at)) {
      if (this.#files.has(at)) throw systemError('ENOTDIR', 'not a directory', at);
      this.#dirs.set(at, mode);
    }
  }

  async replace(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
    this.#dir(dirname(path));
    if (this.#dirs.has(path)) throw systemError('EISDIR', 'is a directory', path);
    this.#put(path, bytes.slice(), mode);
  }

  async replaceDir(path: string, files: ReadonlyMap<string, Uint8Array>, mode = 0o700): Promise<void> {
    this.#dir(dirname(path));
    for (const name of files.keys()) if (name.includes('/')) throw systemError('ENOENT', 'no such directory', join(path, name));
    this.#drop(path);
    this.#dirs.set(path, mode);
    for (const [name, bytes] of files) this.#put(join(path, name), bytes.slice(), 0o600);
  }

  async append(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
    this.#dir(dirname(path));
    if (this.#dirs.has(path)) throw systemError('EISDIR', 'is a directory', path);
    const before = this.#files.get(path);
    this.#put(path, Buffer.concat([before?.bytes ?? new Uint8Array(), bytes]), before?.mode ?? mode);
  }

  async rename(from: string, to: string): Promise<void> {
    if (!this.#exists(from)) throw systemError('ENOENT', 'no such file', from);
    this.#dir(dirname(to));
    const file = this.#files.get(from);
    if (file && this.#dirs.has(to)) throw systemError('EISDIR', 'is a directory', to);
    if (!file && this.#files.has(to)) throw systemError('ENOTDIR', 'not a directory', to);
    if (!file && this.#below(to).length > 0) throw systemError('ENOTEMPTY', 'directory not empty', to);
    if (file) {
      this.#files.delete(from);
      this.#changed(from);
      return this.#put(to, file.bytes, file.mode);
    }
    const moved = [from, ...this.#below(from)].map((path) => ({ path, file: this.#files.get(path), mode: this.#dirs.get(path) ?? 0o700 }));
    this.#drop(from);
    for (const { path, file: inside, mode } of moved) {
      const target = `${to}${path.slice(from.length)}`;
      if (inside) this.#put(target, inside.bytes, inside.mode);
      else this.#dirs.set(target, mode);
    }
  }

  async remove(path: string): Promise<void> {
    this.#drop(path);
  }

  async settle(path: string): Promise<void> {
    if (!this.#exists(dirname(path))) throw systemError('ENOENT', 'no such directory', path);
  }

  #file(path: string): File {
    const file = this.#files.get(path);
    if (file) return file;
    if (this.#dirs.has(path)) throw systemError('EISDIR', 'is a directory', path);
    throw systemError('ENOENT', 'no such file', path);
  }

  #dir(path: string): void {
    if (this.#dirs.has(path)) return;
    throw systemError(this.#files.has(path) ? 'ENOTDIR' : 'ENOENT', 'no such directory', path);
  }

  #exists(path: string): boolean {
    return this.#files.has(path) || this.#dirs.has(path);
  }

  /** Scans all files: a node has about ten. */
  #below(path: string): string[] {
    const start = path === '/' ? '/' : `${path}/`;
    return [...this.#dirs.keys(), ...this.#files.keys()].filter((one) => one.startsWith(start) && one !== path);
  }

  #put(path: string, bytes: Uint8Array, mode: number): void {
    this.#files.set(path, { bytes, mode, modifiedMs: this.#now() });
    this.#changed(path);
  }

  #drop(path: string): void {
    for (const one of [path, ...this.#below(path)]) {
      this.#dirs.delete(one);
      if (this.#files.delete(one)) this.#changed(one);
    }
  }

  #changed(path: string): void {
    for (const { paths, onChange } of this.#watchers) if (paths.includes(path)) onChange(path);
  }
}

/** Locks for a store on an in-memory disk. Taking a held lock waits without a time limit. */
export function waitingLocks(): Locks {
  const last = new Map<string, Promise<void>>();
  return {
    take: async (path) => {
      const before = last.get(path);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(path, promise);
      await before;
      const release = async (): Promise<void> => {
        resolve();
        if (last.get(path) === promise) last.delete(path);
      };
      return { release, [Symbol.asyncDispose]: release };
    },
  };
}

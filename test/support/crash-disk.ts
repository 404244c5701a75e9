import { basename, dirname } from 'node:path';
import type { Disk, OpenHow, RawFile, RawFs, Stat } from '../../base/disk.ts';
import { durableDisk, tempPrefix } from '../../base/durable-disk.ts';
import { errorCode } from '../../base/errors.ts';
import { afterPowerCut, settled } from './crash-disk/power-cut.ts';
import { change, copyOf, type DirNode, type FileNode, fingerprintOf, newDir, type Node, statOf, synced } from './crash-disk/tree.ts';

/**
 * What goes wrong, and from which operation on, counted from 1.
 * `cut`: the operations up to `at` are done, then nothing works any more. `EIO`: that one fails. `ENOSPC`: from then on there is no
 * room (the first write stops halfway). `EROFS`: from then on nothing changes.
 */
export interface Fault {
  kind: 'cut' | 'EIO' | 'ENOSPC' | 'EROFS';
  at: number;
}

/** Which syncs a broken program would leave out: they report success and do nothing. */
export type Forgotten = (kind: 'file' | 'dir', path: string) => boolean;

/**
 * A file system in memory that knows what is on the platter: data and directory entries become durable by their own syncs alone,
 * as POSIX promises and no more. Runs the same durable code as the real disk.
 */
export class CrashDisk implements RawFs {
  /** Operations so far that change or sync something; `fault.at` counts these. */
  changes = 0;
  /** All operations so far, reading ones too; `EIO` counts these. */
  operations = 0;
  /** The changes in words, for the message of a failing test. */
  readonly trace: string[] = [];
  fault: Fault | undefined;
  forgotten: Forgotten | undefined;
  readonly #root: DirNode;
  #temps: number;

  constructor(root: DirNode = newDir(0o755), temps = 0) {
    this.#root = root;
    this.#temps = temps;
  }

  disk(): Disk {
    return durableDisk(this, () => `${tempPrefix}1-${(this.#temps += 1)}`);
  }

  /** As another process sees it after kill -9: nothing is lost, nothing more is synced. */
  afterKill(): CrashDisk {
    return new CrashDisk(copyOf(this.#root, new Map()), this.#temps);
  }

  /** Everything synced, as after `sync` and a minute's rest. */
  settled(): CrashDisk {
    return new CrashDisk(settled(this.#root), this.#temps);
  }

  /**
   * What can be found after a power cut: every combination of unsynced data (old, new, half, zeros) and unsynced directory entries
   * where there are at most `limit`, otherwise the extremes and a seeded sample.
   */
  afterPowerCut(limit: number, seed: number): CrashDisk[] {
    return afterPowerCut(this.#root, limit, seed).map((root) => new CrashDisk(root, this.#temps));
  }

  fingerprint = (): string => fingerprintOf(this.#root);

  /** Puts a file there as if it had always been: for stores that somebody else wrote. */
  plant(path: string, bytes: Uint8Array | string): void {
    let dir = this.#root;
    for (const part of dirname(path).split('/').filter(Boolean)) {
      const next = dir.entries.get(part) ?? newDir(0o755);
      if (next.kind !== 'dir') throw new Error(`${path}: ${part} is a file`);
      dir.entries.set(part, next);
      dir.durable.set(part, next);
      dir = next;
    }
    const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
    const file: FileNode = { kind: 'file', mode: 0o644, data, durable: data, lostTo: 0 };
    dir.entries.set(basename(path), file);
    dir.durable.set(basename(path), file);
  }

  async open(path: string, how: OpenHow, mode = 0o600): Promise<RawFile> {
    const creates = how === 'create' || (how === 'append' && !this.#find(path));
    this.#step(`open ${how} ${path}`, creates ? 'grow' : 'read');
    let node = this.#find(path);
    if (how === 'create' && node) throw failure('EEXIST', path);
    if (creates) {
      node = { kind: 'file', mode, data: new Uint8Array(), durable: new Uint8Array(), lostTo: 0 };
      change(this.#dirOf(path), { set: [basename(path), node] });
    }
    if (!node) throw failure('ENOENT', path);
    if (how === 'dir' && node.kind !== 'dir') throw failure('ENOTDIR', path);
    if (how === 'append' && node.kind === 'dir') throw failure('EISDIR', path);
    return this.#handle(path, node);
  }

  async mkdir(path: string, mode: number): Promise<void> {
    this.#step(`mkdir ${path}`, 'grow');
    const parent = this.#dirOf(path);
    if (parent.entries.has(basename(path))) throw failure('EEXIST', path);
    change(parent, { set: [basename(path), newDir(mode)] });
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step(`rename ${from} ${to}`, 'change');
    const [source, target] = [this.#dirOf(from), this.#dirOf(to)];
    const node = source.entries.get(basename(from));
    if (!node) throw failure('ENOENT', from);
    const there = target.entries.get(basename(to));
    if (there?.kind === 'dir' && node.kind === 'file') throw failure('EISDIR', to);
    if (there?.kind === 'file' && node.kind === 'dir') throw failure('ENOTDIR', to);
    if (there?.kind === 'dir' && there.entries.size > 0) throw failure('ENOTEMPTY', to);
    const set = [basename(to), node] as const;
    const take = basename(from);
    if (source === target) return change(source, { take, set });
    change(target, { set });
    return change(source, { take });
  }

  async unlink(path: string): Promise<void> {
    this.#step(`unlink ${path}`, 'change');
    if (this.#find(path)?.kind !== 'file') throw failure(this.#find(path) ? 'EISDIR' : 'ENOENT', path);
    change(this.#dirOf(path), { take: basename(path) });
  }

  async rmdir(path: string): Promise<void> {
    this.#step(`rmdir ${path}`, 'change');
    const node = this.#find(path);
    if (node?.kind !== 'dir') throw failure(node ? 'ENOTDIR' : 'ENOENT', path);
    if (node.entries.size > 0) throw failure('ENOTEMPTY', path);
    change(this.#dirOf(path), { take: basename(path) });
  }

  async list(path: string): Promise<string[]> {
    this.#step(`list ${path}`, 'read');
    const node = this.#find(path);
    if (node?.kind !== 'dir') throw failure(node ? 'ENOTDIR' : 'ENOENT', path);
    return [...node.entries.keys()];
  }

  async stat(path: string): Promise<Stat | undefined> {
    this.#step(`stat ${path}`, 'read');
    const node = this.#find(path);
    return node && statOf(node);
  }

  async realPath(path: string): Promise<string> {
    this.#step(`realpath ${path}`, 'read');
    if (!this.#find(path)) throw failure('ENOENT', path);
    return path;
  }

  async capacity(): Promise<undefined> {}

  #handle(path: string, node: Node): RawFile {
    let position = 0;
    const file = (): FileNode => {
      if (node.kind === 'dir') throw failure('EISDIR', path);
      return node;
    };
    return {
      read: async (into) => {
        this.#step(`read ${path}`, 'read');
        const got = file().data.subarray(position, position + into.length);
        into.set(got);
        position += got.length;
        return got.length;
      },
      seek: (to) => void (position = to),
      write: async (bytes) => {
        const room = this.#step(`write ${path}`, 'write');
        const wrote = room === 'half' ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes;
        file().data = new Uint8Array(Buffer.concat([file().data, wrote]));
        return wrote.length;
      },
      sync: async () => {
        try {
          this.#step(`sync ${path}`, 'sync');
        } catch (error) {
          if (node.kind === 'file' && errorCode(error) === 'EIO') node.lostTo = node.data.length;
          throw error;
        }
        if (!this.forgotten?.(node.kind, path)) synced(node);
      },
      stat: async () => {
        this.#step(`fstat ${path}`, 'read');
        return statOf(node);
      },
      close: async () => {},
    };
  }

  /** Counts an operation and lets it fail when its time has come. */
  #step(what: string, kind: 'read' | 'sync' | 'change' | 'grow' | 'write'): 'whole' | 'half' {
    this.operations += 1;
    if (kind !== 'read') {
      this.changes += 1;
      this.trace.push(what);
    }
    const { fault } = this;
    if (!fault) return 'whole';
    const counted = fault.kind === 'EIO' ? this.operations : this.changes;
    if (fault.kind === 'cut' && counted > fault.at) throw failure('POWER', what);
    if (fault.kind === 'EIO' && counted === fault.at) throw failure('EIO', what);
    if (fault.kind === 'EROFS' && counted >= fault.at && kind !== 'read' && kind !== 'sync') throw failure('EROFS', what);
    if (fault.kind === 'ENOSPC' && counted >= fault.at) {
      if (kind === 'write' && counted === fault.at) return 'half';
      if (kind === 'write' || kind === 'grow') throw failure('ENOSPC', what);
    }
    return 'whole';
  }

  #find(path: string): Node | undefined {
    let node: Node = this.#root;
    for (const part of path.split('/').filter(Boolean)) {
      const next: Node | undefined = node.kind === 'dir' ? node.entries.get(part) : undefined;
      if (!next) return undefined;
      node = next;
    }
    return node;
  }

  #dirOf(path: string): DirNode {
    const dir = this.#find(dirname(path));
    if (!dir) throw failure('ENOENT', path);
    if (dir.kind !== 'dir') throw failure('ENOTDIR', path);
    return dir;
  }
}

function failure(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

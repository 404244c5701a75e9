import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import type { Disk, Stat } from './disk.ts';
import { durableDisk, tempPrefix } from './durable-disk.ts';
import { errorCode } from './errors.ts';

/**
 * How a file is opened. `create` fails on anything that is already there; `append` makes the file where it is missing;
 * `dir` opens a directory, to sync it. Only `read-linked` follows a link, none waits for the other end of a fifo.
 */
export type OpenHow = 'read' | 'read-linked' | 'create' | 'append' | 'dir';

/** An open file. Reads and writes go on where the last one ended; both may do less than asked. */
export interface RawFile {
  /** @returns bytes read, 0 at the end */
  read(into: Uint8Array): Promise<number>;
  /** The next read begins this far from the start. Regular files only. */
  seek(to: number): void;
  /** @returns bytes written, as few as the kernel likes */
  write(bytes: Uint8Array): Promise<number>;
  sync(): Promise<void>;
  stat(): Promise<Stat>;
  close(): Promise<void>;
}

/**
 * The primitive operations that the durable disk is made of, one system call each. The same durable code runs on the kernel's
 * files and on a model that loses power after any of them. Errors carry Node's `code`.
 */
export interface RawFs {
  /** @param mode of a file that is made; the umask of the process applies */
  open(path: string, how: OpenHow, mode?: number): Promise<RawFile>;
  mkdir(path: string, mode: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  /** Names, in no order. */
  list(path: string): Promise<string[]>;
  /** undefined where there is nothing. Does not follow a link. */
  stat(path: string): Promise<Stat | undefined>;
  /** The path without symbolic links. @throws ENOENT, ENOTDIR, ELOOP where it leads nowhere */
  realPath(path: string): Promise<string>;
  /** Size in bytes of the file system that holds `path`; undefined where nobody can tell. */
  capacity(path: string): Promise<bigint | undefined>;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

const flags: Record<OpenHow, number> = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  'read-linked': O_RDONLY | O_NONBLOCK,
  create: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  append: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  dir: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
};

/** The file system of this machine. */
export const nodeFs: RawFs = {
  open: async (path, how, mode = 0o600) => {
    const handle = await fs.open(path, flags[how], mode);
    let at: number | null = null;
    return {
      read: async (into) => {
        const { bytesRead } = await handle.read(into, 0, into.length, at);
        if (at !== null) at += bytesRead;
        return bytesRead;
      },
      seek: (to) => void (at = to),
      write: async (bytes) => (await handle.write(bytes, 0, bytes.length, null)).bytesWritten,
      sync: () => handle.sync(),
      stat: async () => plainStat(await handle.stat()),
      close: () => handle.close(),
    };
  },
  mkdir: (path, mode) => fs.mkdir(path, { mode }).then(() => undefined),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  rmdir: (path) => fs.rmdir(path),
  list: (path) => fs.readdir(path),
  stat: async (path) => {
    try {
      return plainStat(await fs.lstat(path));
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
  },
  realPath: (path) => fs.realpath(path),
  capacity: (path) =>
    fs.statfs(path, { bigint: true }).then(
      ({ blocks, bsize }) => blocks * bsize,
      () => undefined,
    ),
};

function plainStat(stats: Stats): Stat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : 'other';
  return { kind, bytes: stats.size, mode: stats.mode & 0o7777, modifiedMs: stats.mtimeMs };
}

/** The disk of this machine. The process id in a temporary name is for the person who finds one. */
export const realDisk: Disk = durableDisk(nodeFs, () => `${tempPrefix}${process.pid}-${randomBytes(6).toString('hex')}`);

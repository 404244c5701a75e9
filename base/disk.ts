import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { type Millis, monotonicMs } from './clock.ts';
import { durableDisk, tempPrefix } from './durable-disk.ts';
import { errorCode } from './errors.ts';

/** The entry at a path. `other` is a socket, device, link or fifo: never followed, never trusted. */
export type Stat = {
  kind: 'file' | 'dir' | 'other';
  bytes: number;
  /** Permission bits only. */
  mode: number;
  /** Its owner; absent where a disk has none. */
  uid?: number;
  modifiedMs: number;
};

export interface Written {
  path: string;
  bytes: Uint8Array;
}

/**
 * The disk as the store needs it. Every write is durable when its promise resolves: file and directory are synced.
 * Paths are absolute. Errors are Node's own (`code` ENOENT, ENOSPC, EROFS, ...), so that the caller can tell them apart.
 */
export interface Disk {
  /** The whole file. @throws ENOENT, EISDIR; RangeError above `limit` bytes (default 8 MiB), so that no file can exhaust memory */
  read(path: string, limit?: number): Promise<Uint8Array>;
  /** Like `read`, but follows symbolic links: for files of an administrator, never for those of a store. */
  readLinked(path: string, limit?: number): Promise<Uint8Array>;
  /** The last bytes of a file, at most `limit`; the whole file where it is not longer. @throws as `read`, but no RangeError */
  readEnd(path: string, limit: number): Promise<Uint8Array>;
  /** undefined where there is nothing. Does not follow links. */
  stat(path: string): Promise<Stat | undefined>;
  /** The path without symbolic links. @throws ENOENT, ENOTDIR, ELOOP where it leads nowhere */
  realPath(path: string): Promise<string>;
  /** Size in bytes of the file system that holds `path`; undefined where it is unknown. */
  capacity(path: string): Promise<bigint | undefined>;
  /** Names in a directory, sorted. @throws ENOENT, ENOTDIR */
  list(path: string): Promise<string[]>;
  /** Makes a directory and its missing parents, durably. Leaves an existing directory as it is. */
  makeDir(path: string, mode?: number): Promise<void>;
  /** After a crash at any point: all of the old bytes or all of the new. @param mode default 0o600 */
  replace(path: string, bytes: Uint8Array, mode?: number): Promise<void>;
  /**
   * Makes the directory `path` holding exactly `files` (name -> bytes): after a crash it is there whole or not at all.
   * An existing directory of that name is moved aside first and removed afterwards.
   */
  replaceDir(path: string, files: ReadonlyMap<string, Uint8Array>, mode?: number): Promise<void>;
  /** Appends and syncs. A crash can leave a cut last line: readers skip what they cannot parse. */
  append(path: string, bytes: Uint8Array, mode?: number): Promise<void>;
  /** Durable rename within one file system; both directories are synced. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a whole tree, durably. No error where nothing exists. */
  remove(path: string): Promise<void>;
  /**
   * Makes the content at `path` durable as it is, with its entry in the parent: for a caller that finds the right content there and cannot know whether its
   * writer synced it before it died.
   */
  settle(path: string): Promise<void>;
}

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
  /** @returns bytes written, perhaps fewer than given */
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
  /** Size in bytes of the file system that holds `path`; undefined where it is unknown. */
  capacity(path: string): Promise<bigint | undefined>;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

const flags: Record<OpenHow, number> = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  'read-linked': O_RDONLY | O_NONBLOCK,
  create: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
  append: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  dir: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
};

// Loaded on demand: this module costs 5 ms of a start, and loads others that an agent never uses.
const promises = () => import('node:fs/promises');

/** The file system of this machine. No call blocks the process. */
export const nodeFs: RawFs = {
  open: async (path, how, mode = 0o600) => {
    const handle = await (await promises()).open(path, flags[how], mode);
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
  mkdir: async (path, mode) => (await promises()).mkdir(path, { mode }),
  rename: async (from, to) => (await promises()).rename(from, to),
  unlink: async (path) => (await promises()).unlink(path),
  rmdir: async (path) => (await promises()).rmdir(path),
  list: async (path) => (await promises()).readdir(path),
  stat: async (path) => absentOr(async () => (await promises()).lstat(path)),
  realPath: async (path) => (await promises()).realpath(path),
  capacity: async (path) =>
    (await promises()).statfs(path, { bigint: true }).then(
      ({ blocks, bsize }) => blocks * bsize,
      () => undefined,
    ),
};

/**
 * The same with synchronous calls: no thread is started and woken for them. For a process that has nothing else to do, such as an agent before READY. A sync
 * stays asynchronous: on a slow disk it takes seconds, and the agent has to notify systemd of a slow start.
 */
const waitingFs: RawFs = {
  open: async (path, how, mode = 0o600) => {
    const fd = fs.openSync(path, flags[how], mode);
    let at: number | null = null;
    return {
      read: async (into) => {
        const got = fs.readSync(fd, into, 0, into.length, at);
        if (at !== null) at += got;
        return got;
      },
      seek: (to) => void (at = to),
      write: async (bytes) => fs.writeSync(fd, bytes, 0, bytes.length, null),
      sync: () =>
        new Promise((resolve, reject) => {
          fs.fsync(fd, (error) => (error ? reject(error) : resolve()));
        }),
      stat: async () => plainStat(fs.fstatSync(fd)),
      close: async () => fs.closeSync(fd),
    };
  },
  mkdir: async (path, mode) => {
    fs.mkdirSync(path, { mode });
  },
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  rmdir: async (path) => fs.rmdirSync(path),
  list: async (path) => fs.readdirSync(path),
  stat: (path) => absentOr(() => fs.lstatSync(path)),
  realPath: async (path) => fs.realpathSync.native(path),
  capacity: (path) => nodeFs.capacity(path),
};

async function absentOr(stat: () => fs.Stats | Promise<fs.Stats>): Promise<Stat | undefined> {
  try {
    return plainStat(await stat());
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function plainStat(stats: fs.Stats): Stat {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : 'other';
  return { kind, bytes: stats.size, mode: stats.mode & 0o7777, uid: stats.uid, modifiedMs: stats.mtimeMs };
}

/** The process id in a temporary name is for the person who finds one. */
const tempName = (): string => `${tempPrefix}${process.pid}-${randomBytes(6).toString('hex')}`;

/** The disk of this machine. */
export const realDisk: Disk = durableDisk(nodeFs, tempName);

/** Longest time in which reads of {@link scanningDisk} let nothing else run, in ms: a timer waits for no more than that, and the current call. */
const SCAN_TURN_MS: Millis = 20;

function inTurns(raw: RawFs, beforeBlocking: () => void): RawFs {
  let began = monotonicMs();
  const turn = async (): Promise<void> => {
    if (monotonicMs() - began >= SCAN_TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      began = monotonicMs();
    }
    beforeBlocking();
  };
  return {
    ...raw,
    open: async (...args) => turn().then(() => raw.open(...args)),
    list: async (path) => turn().then(() => raw.list(path)),
    stat: async (path) => turn().then(() => raw.stat(path)),
  };
}

/**
 * The same disk for a command that reads thousands of small files and does nothing beside: the calls block the process, as waking a thread for each takes
 * ten times as long. Timers get their turn.
 * @param beforeBlocking - called before each call, which never returns on a disk that hangs. @default nothing
 */
export function scanningDisk(beforeBlocking: () => void = () => undefined): Disk {
  return durableDisk(inTurns(waitingFs, beforeBlocking), tempName);
}

/** The duration of a finished change of the disk, or the time so far of a running one. */
export interface Synced {
  path: string;
  ms: Millis;
}

/**
 * Measures how long the disk takes for syncs, which every write of a store waits for, and for the other changes: on a frozen file system, as during a
 * snapshot, a write never reaches its sync.
 */
export class SyncTimes {
  readonly #monotonic: () => Millis;
  readonly #pending = new Set<{ path: string; began: Millis }>();
  #longest: Synced | undefined;

  constructor(monotonic: () => Millis) {
    this.#monotonic = monotonic;
  }

  /** @returns call this when the sync is done, or has failed */
  begin(path: string): () => void {
    const sync = { path, began: this.#monotonic() };
    this.#pending.add(sync);
    return () => {
      this.#pending.delete(sync);
      this.#longest = longer(this.#longest, { path, ms: this.#monotonic() - sync.began });
    };
  }

  /** The longest sync since the last call, including running ones; undefined: there was none. */
  take(): Synced | undefined {
    const now = this.#monotonic();
    let longest = this.#longest;
    for (const { path, began } of this.#pending) longest = longer(longest, { path, ms: now - began });
    this.#longest = undefined;
    return longest;
  }
}

const longer = (a: Synced | undefined, b: Synced): Synced => (a !== undefined && a.ms >= b.ms ? a : b);

function timed(raw: RawFs, syncs: SyncTimes): RawFs {
  const timing = <T>(path: string, change: () => Promise<T>): Promise<T> => {
    const done = syncs.begin(path);
    return change().finally(done);
  };
  const open: RawFs['open'] = async (path, how, mode) => {
    const opens = (): Promise<RawFile> => raw.open(path, how, mode);
    const file = await (how === 'create' || how === 'append' ? timing(path, opens) : opens());
    return { ...file, write: (bytes) => timing(path, () => file.write(bytes)), sync: () => timing(path, () => file.sync()) };
  };
  return {
    ...raw,
    open,
    mkdir: (path, mode) => timing(path, () => raw.mkdir(path, mode)),
    rename: (from, to) => timing(to, () => raw.rename(from, to)),
    unlink: (path) => timing(path, () => raw.unlink(path)),
    rmdir: (path) => timing(path, () => raw.rmdir(path)),
  };
}

/** The disk of this machine for a process that starts: calls block the process until `started` is called, and no longer from then on. */
export function startingDisk(): { disk: Disk; started: () => void; syncs: SyncTimes } {
  const syncs = new SyncTimes(monotonicMs);
  const raw = timed(waitingFs, syncs);
  return { disk: durableDisk(raw, tempName), started: () => void Object.assign(raw, timed(nodeFs, syncs)), syncs };
}

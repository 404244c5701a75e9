/** What lies at a path. `other` is a socket, device, link or fifo: never followed, never trusted. */
export type Stat = {
  kind: 'file' | 'dir' | 'other';
  bytes: number;
  /** Permission bits only. */
  mode: number;
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
  /** As `read`, through symbolic links as well: for files that an administrator keeps, never for those of a store. */
  readLinked(path: string, limit?: number): Promise<Uint8Array>;
  /** The last bytes of a file, at most `limit`: all of it where it is no longer than that. @throws as `read`, but no RangeError */
  readEnd(path: string, limit: number): Promise<Uint8Array>;
  /** undefined where there is nothing. Does not follow links. */
  stat(path: string): Promise<Stat | undefined>;
  /** The path without symbolic links. @throws ENOENT, ENOTDIR, ELOOP where it leads nowhere */
  realPath(path: string): Promise<string>;
  /** Size in bytes of the file system that holds `path`; undefined where nobody can tell. */
  capacity(path: string): Promise<bigint | undefined>;
  /** Names in a directory, sorted. @throws ENOENT, ENOTDIR */
  list(path: string): Promise<string[]>;
  /** Makes a directory and its missing parents, durably. Leaves an existing one alone. */
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
  /** Removes a file or a whole tree, durably. Nothing there is fine. */
  remove(path: string): Promise<void>;
  /**
   * Makes what is at `path` durable as it is, with its entry in the parent: for one who finds the right content there and cannot
   * know whether its writer lived to sync it.
   */
  settle(path: string): Promise<void>;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { basename, dirname, join } from 'node:path';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import { LockError, type Locks } from '../../base/lock.ts';
import { damagedName } from './layout.ts';
import type { Parsed } from './records.ts';
import { hintFor, isUnread, onPath, StoreError } from './store.ts';

/** Damaged files kept per name, so that a disk that damages a file at every boot does not fill up. */
const DAMAGED_KEPT = 5;
/** A file that could not be read for this long, continuously, counts as damaged, in ms. */
const LOST_AFTER_MS: Millis = 60_000;

/** What a file holds; undefined where it is missing. `unread`: reading failed, so that its content is unknown. */
type Read<T> = Parsed<T | undefined> | { ok: false; problem: string; unread: unknown };
type Parse<T> = (bytes: Uint8Array) => Parsed<T>;

export interface RecordFilesParts {
  disk: Disk;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  locked: Locked;
  /** Called once per damaged file that is set aside. */
  onDamage: (path: string, problem: string) => void | Promise<void>;
}

/** Reads and writes single files of a store. Damaged ones are set aside; every change is made under the lock of the store. */
export class RecordFiles {
  readonly #parts: RecordFilesParts;
  readonly #reported = new Set<string>();
  readonly #unreadSince = new Map<string, Millis>();

  constructor(parts: RecordFilesParts) {
    this.#parts = parts;
  }

  /**
   * The parsed file; undefined where it is missing, or was damaged: then it is set aside and reported.
   * @param read - reads the bytes. @default the whole file
   * @throws StoreError where the disk fails to read it, for {@link LOST_AFTER_MS} at most
   */
  async read<T>(path: string, parse: Parse<T>, read = (): Promise<Uint8Array> => this.#parts.disk.read(path)): Promise<T | undefined> {
    const look = async (): Promise<Read<T>> => {
      const once = await this.#parsed(read, parse);
      return 'unread' in once ? this.#parsed(read, parse) : once;
    };
    const first = await look();
    if (!('unread' in first)) this.#unreadSince.delete(path);
    else if (!this.#isLost(path)) throw new StoreError('read', path, { hint: first.problem, cause: first.unread });
    if (first.ok) return first.value;
    const { locked, onDamage } = this.#parts;
    try {
      // Read again under the lock: another process may have repaired the file.
      return await locked(async () => {
        const again = await look();
        if (again.ok) return again.value;
        await this.setAside(path);
        await onDamage(path, again.problem);
        return undefined;
      });
    } catch {
      // A disk that is not writable keeps the damaged file: it reads as missing and is reported once.
      await this.reportOnce(path, first.problem);
      return undefined;
    }
  }

  /** The parsed file; undefined where it is missing, damaged or cannot be read. Changes and reports nothing. */
  async readIfIntact<T>(path: string, parse: Parse<T>): Promise<T | undefined> {
    const read = await this.#parsed(() => this.#parts.disk.read(path), parse);
    return read.ok ? read.value : undefined;
  }

  /** Writes the file; undefined removes it. @throws StoreError */
  async set(path: string, text: string | undefined): Promise<void> {
    const { disk, locked } = this.#parts;
    await locked(async () => {
      if (text !== undefined) await this.replace(path, new TextEncoder().encode(text));
      else await onPath('remove', path, () => disk.remove(path));
    });
  }

  /** Call it under the lock. Equal bytes are not rewritten but synced: their writer may have died before that. @throws StoreError */
  async replace(path: string, bytes: Uint8Array): Promise<void> {
    const { disk } = this.#parts;
    await onPath('write', path, async () => {
      if (await this.#holds(path, bytes)) await disk.settle(path);
      else await disk.replace(path, bytes);
    });
  }

  /** Renames the file to {@link damagedName}, and removes all but the newest {@link DAMAGED_KEPT} such files. @throws StoreError */
  async setAside(path: string): Promise<void> {
    const { disk, clock, locked } = this.#parts;
    await locked(() =>
      onPath('set aside', path, async () => {
        if (!(await disk.stat(path))) return disk.settle(path);
        let to = damagedName(path, clock.now());
        for (let n = 2; await disk.stat(to); n++) to = `${damagedName(path, clock.now())}-${n}`;
        await disk.rename(path, to);
        const dir = dirname(path);
        const older = (await disk.list(dir)).filter((name) => name.startsWith(`${basename(path)}.damaged-`)).slice(0, -DAMAGED_KEPT);
        for (const name of older) await disk.remove(join(dir, name));
      }),
    );
  }

  /** Reports damage of a file that stays in its place: the first time only, since each reading finds it. */
  async reportOnce(path: string, problem: string): Promise<void> {
    if (this.#reported.has(path)) return;
    this.#reported.add(path);
    await this.#parts.onDamage(path, problem);
  }

  async #holds(path: string, bytes: Uint8Array): Promise<boolean> {
    try {
      return Buffer.compare(await this.#parts.disk.read(path, bytes.length), bytes) === 0;
    } catch {
      return false; // missing, longer or unreadable: the following write reports what is wrong, if anything
    }
  }

  /** A file that cannot be read is set aside only after {@link LOST_AFTER_MS}: the disk may recover, and the node must not lose its records. */
  #isLost(path: string): boolean {
    const now = this.#parts.clock.monotonic();
    const since = this.#unreadSince.get(path) ?? now;
    this.#unreadSince.set(path, since);
    return now - since >= LOST_AFTER_MS;
  }

  async #parsed<T>(read: () => Promise<Uint8Array>, parse: Parse<T>): Promise<Read<T>> {
    try {
      return parse(await read());
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { ok: true, value: undefined };
      if (isUnread(error)) return { ok: false, problem: hintFor(error), unread: error };
      return { ok: false, problem: error instanceof RangeError ? 'it is too large' : hintFor(error) };
    }
  }
}

/** Runs `change` while the store is held. */
export type Locked = <T>(change: () => Promise<T>) => Promise<T>;

/**
 * The lock of one store: changes of this process run one after the other, each under a kernel lock that excludes other processes.
 * A nested change runs at once; it must be awaited before the outer change ends.
 * @param waitMs - longest wait for other processes
 */
export function storeLock(locks: Locks, path: string, waitMs: Millis): Locked {
  // Identifies nested changes. Set inactive at the end of a change, for promises that outlive it.
  const holding = new AsyncLocalStorage<{ active: boolean }>();
  let last: Promise<unknown> = Promise.resolve();

  return async (change) => {
    if (holding.getStore()?.active) return change();
    const run = async () => {
      await using _ = await takeLock(locks, path, waitMs);
      const holder = { active: true };
      try {
        return await holding.run(holder, change);
      } finally {
        holder.active = false;
      }
    };
    const mine = last.then(run, run);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** @throws LockError when another process holds it, StoreError when it cannot be taken at all */
async function takeLock(locks: Locks, path: string, waitMs: Millis): Promise<AsyncDisposable> {
  try {
    return await locks.take(path, waitMs);
  } catch (error) {
    if (!(error instanceof LockError)) throw new StoreError('lock', path, { hint: hintFor(error), cause: error });
    if (error.cause === undefined) throw error;
    throw new StoreError('lock', path, { hint: hintFor(error.cause), cause: error });
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Millis } from '../../base/clock.ts';
import { LockError, type Locks } from '../../base/lock.ts';
import { hintFor, StoreError } from './store.ts';

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

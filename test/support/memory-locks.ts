import { LockError, type HeldLock, type Locks } from '../../base/lock.ts';

/** Locks for stores on a disk in memory. Waits for nobody: whoever finds the lock taken is refused at once. */
export function memoryLocks(): Locks {
  const held = new Set<string>();
  return {
    take: async (path) => {
      if (held.has(path)) throw new LockError(path, 'another process holds it');
      held.add(path);
      return heldLock(() => held.delete(path));
    },
  };
}

/** The same, but whoever finds the lock taken waits for it without an end. */
export function waitingLocks(): Locks {
  const last = new Map<string, Promise<void>>();
  return {
    take: async (path) => {
      const before = last.get(path);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(path, promise);
      await before;
      return heldLock(resolve);
    },
  };
}

function heldLock(free: () => unknown): HeldLock {
  const release = async () => void free();
  return { release, [Symbol.asyncDispose]: release };
}

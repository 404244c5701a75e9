import type { Locks } from '../../../base/lock.ts';

/** Locks for a store on a disk in memory. One that is taken is waited for, however long. */
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

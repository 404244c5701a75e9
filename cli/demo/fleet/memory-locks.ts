import type { Locks } from '../../../base/lock.ts';

/** Locks of one played node: whoever finds one taken waits for it, however long. */
export function memoryLocks(): Locks {
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

import { LockError, type Locks } from '../../base/lock.ts';

/** Locks for stores on a disk in memory. Waits for nobody: whoever finds the lock taken is refused at once. */
export function memoryLocks(): Locks {
  const held = new Set<string>();
  return {
    take: async (path) => {
      if (held.has(path)) throw new LockError(path, 'another process holds it');
      held.add(path);
      const release = async () => void held.delete(path);
      return { release, [Symbol.asyncDispose]: release };
    },
  };
}

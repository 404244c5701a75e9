/** A held lock. Releasing twice is harmless; the kernel releases it when the process dies. */
export interface HeldLock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Locks named by a path. */
export interface Locks {
  /**
   * Takes the lock of `path` for this process alone.
   * @param waitMs - longest wait, in ms; 0 tries once
   * @throws {LockError} when someone else holds it for all that time
   */
  take(path: string, waitMs: number): Promise<HeldLock>;
}

/** Someone else holds the lock. */
export class LockError extends Error {
  override name = 'LockError';
  readonly path: string;
  constructor(path: string, hint: string) {
    super(`Cannot lock ${path}: ${hint}`);
    this.path = path;
  }
}

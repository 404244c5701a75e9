/** A held lock. Releasing twice is harmless; the kernel releases it when the process dies. */
export interface HeldLock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Locks named by a path. */
export interface Locks {
  /**
   * Takes the lock of `path` for this process alone.
   * @param waitMs - longest wait, in ms; 0 tries once
   * @throws {LockError} when someone else holds it for all that time, or its file cannot be opened
   */
  take(path: string, waitMs: number): Promise<HeldLock>;
}

/** The lock was not had: someone else holds it, or it cannot be taken at all. */
export class LockError extends Error {
  override name = 'LockError';
  readonly path: string;
  constructor(path: string, hint: string, options?: { cause: unknown }) {
    super(`Cannot lock ${path}: ${hint}`, options);
    this.path = path;
  }
}

/** Writes that only a leader may make. */
export interface Fence {
  /** Whether nobody else can be leader at this moment. Reads the clocks: true a moment ago says nothing about now. */
  mayWrite(): boolean;
  /**
   * Makes one write call, now or not at all. The signal it gets aborts when leadership is no longer certain, so that a call that waits (for a
   * connection, for a turn) is not made late.
   * @param signal - the caller's own
   * @throws {NotLeaderError} without calling, when leadership is not certain
   */
  write<T>(call: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Leadership is not certain, so nothing is written. Not worth another try: who has lost it ends. */
export class NotLeaderError extends Error {
  override name = 'NotLeaderError';
  constructor(lease: string, why: string) {
    super(`Cannot write as leader of ${lease}: ${why}`);
  }
}

import type { Clock, Millis } from '../../base/clock.ts';
import { ActionError } from '../../base/errors.ts';

/** Keeps the last observed value, and lets the scenario wait for an expected one. */
export class Eye<T> {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  last: T | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  see(seen: T): void {
    this.last = seen;
    for (const wake of this.#waiting) wake();
  }

  /** A new Eye on the same clock, for another kind of value. */
  beside<U>(): Eye<U> {
    return new Eye<U>(this.#clock);
  }

  /** @param what - completes the error "Cannot observe ..." on timeout */
  async until(what: string, fits: (seen: T) => boolean, timeoutMs: Millis, signal: AbortSignal): Promise<T> {
    const over = new AbortController();
    const found = Promise.withResolvers<T>();
    const check = (): void => {
      if (this.last !== undefined && fits(this.last)) found.resolve(this.last);
    };
    this.#waiting.add(check);
    check();
    const limit = this.#clock.sleep(timeoutMs, AbortSignal.any([over.signal, signal])).then(
      () => found.reject(new ActionError('observe', what, { hint: `timed out after ${timeoutMs / 1000} s` })),
      () => {
        if (signal.aborted) found.reject(signal.reason);
      },
    );
    try {
      return await found.promise;
    } finally {
      this.#waiting.delete(check);
      over.abort();
      await limit;
    }
  }
}

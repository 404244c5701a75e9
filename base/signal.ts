import type { Clock, Millis } from './clock.ts';

/** A flag that one loop waits for. Raised many times before it is looked at, it still counts once. */
export class Signal {
  #raised = false;
  #wake: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /** What raised it so far is seen to by what comes next. */
  lower(): void {
    this.#raised = false;
  }

  /** Resolves once the flag is raised, and takes it down. Resolves too when `signal` aborts, and then leaves it as it is. One waiter at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#raised && !signal.aborted) {
      const woken = Promise.withResolvers<void>();
      // Taken off again each time: a loop that waits for years must not gather listeners.
      signal.addEventListener('abort', () => woken.resolve(), { once: true, signal: this.#until(woken) });
      await woken.promise;
    }
    if (!signal.aborted) this.#raised = false;
  }

  /**
   * The same, and after `ms` at the latest.
   * @returns whether the flag was raised, rather than time over
   */
  async waitOr(ms: Millis, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (!this.#raised && !signal.aborted) {
      const over = new AbortController();
      const woken = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => woken.resolve(), { once: true, signal: over.signal });
      this.#wake = () => woken.resolve();
      clock.sleep(ms, over.signal).then(woken.resolve, () => {});
      await woken.promise;
      this.#wake = undefined;
      over.abort();
    }
    const raised = this.#raised;
    if (!signal.aborted) this.#raised = false;
    return raised;
  }

  #until(woken: PromiseWithResolvers<void>): AbortSignal {
    const over = new AbortController();
    this.#wake = () => woken.resolve();
    void woken.promise.then(() => {
      this.#wake = undefined;
      over.abort();
    });
    return over.signal;
  }
}

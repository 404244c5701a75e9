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
      await this.#woken(signal);
    }
    if (!signal.aborted) this.#raised = false;
  }

  /**
   * The same, and after `ms` at the latest.
   * @returns whether the flag was raised, rather than time over
   */
  async waitOr(ms: Millis, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (!this.#raised && !signal.aborted) {
      await this.#woken(signal, (wake) => clock.after(ms, wake));
    }
    const raised = this.#raised;
    if (!signal.aborted) this.#raised = false;
    return raised;
  }

  /** @param also - what else wakes; returns how it is stopped */
  async #woken(signal: AbortSignal, also: (wake: () => void) => () => void = () => () => {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#wake = wake;
    signal.addEventListener('abort', wake);
    const stop = also(wake);
    await promise;
    stop();
    // Taken off again each time: a loop that waits for years must not gather listeners.
    signal.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}

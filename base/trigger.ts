import type { Clock, Millis } from './clock.ts';

/** A wake-up that one loop waits for: notified many times before the loop looks, it still counts once. */
export class Trigger {
  #notified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** Drops the notifications so far: the caller is about to handle them. */
  reset(): void {
    this.#notified = false;
  }

  /** Resolves once notified, and resets. Resolves too when `signal` aborts, and then does not reset. One waiter at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#notified && !signal.aborted) {
      await this.#woken(signal);
    }
    if (!signal.aborted) this.#notified = false;
  }

  /**
   * The same, and after `ms` at the latest.
   * @returns whether it was notified, rather than time over
   */
  async waitOr(ms: Millis, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (!this.#notified && !signal.aborted) {
      await this.#woken(signal, (wake) => clock.after(ms, wake));
    }
    const notified = this.#notified;
    if (!signal.aborted) this.#notified = false;
    return notified;
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

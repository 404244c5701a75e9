import type { Clock, Millis } from './clock.ts';
import type { Random } from './random.ts';

/** A wake-up that one loop waits for: several notifications before the loop waits count as one. */
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
   * The same, but resolves after `ms` at the latest.
   * @returns whether it was notified; false when the time was over
   */
  async waitOr(ms: Millis, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (!this.#notified && !signal.aborted) {
      await this.#woken(signal, (wake) => clock.after(ms, wake));
    }
    const notified = this.#notified;
    if (!signal.aborted) this.#notified = false;
    return notified;
  }

  /** @param also - starts another source of wake-ups; returns what stops it */
  async #woken(signal: AbortSignal, also: (wake: () => void) => () => void = () => () => {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#wake = wake;
    signal.addEventListener('abort', wake);
    const stop = also(wake);
    await promise;
    stop();
    // Removed each time: a loop that waits for years must not accumulate listeners.
    signal.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}

/** The reason of an aborted signal, as an error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}

/**
 * The result of the promise, or a rejection with the signal's reason if the signal aborts first. The work behind the promise goes on, for others that wait
 * for it. Once this settles no listener is left on the signal, which may live for long.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(abortReason(signal));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A computation in small steps: at each `yield` its driver may let other work of the process run. It must not matter how long that takes. */
export type InTurns<T> = Generator<undefined, T>;

/** The result of all steps at once, however long they take. */
export function atOnce<T>(work: InTurns<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

export interface BackoffLimits {
  /** First wait, in ms. */
  base: Millis;
  /** Longest wait before jitter, in ms. */
  cap: Millis;
  /** Up to this share of the wait is added at random, so that a fleet does not retry in step. @default 0.2 */
  jitter?: number;
}

/**
 * Ms to wait before trying again after `failures` failures in a row: `base * 2 ** (failures - 1)`, never above `cap`, plus jitter.
 * @returns finite even after a thousand failures; `base` for the first failure
 * @throws {RangeError} when `base` exceeds `cap`
 */
export function backoff(failures: number, limits: BackoffLimits, random: Random): Millis {
  if (limits.base > limits.cap) throw new RangeError(`base ${limits.base} ms exceeds cap ${limits.cap} ms`);
  const wait = Math.min(limits.cap, limits.base * 2 ** Math.min(Math.max(failures - 1, 0), 60));
  return wait * (1 + (limits.jitter ?? 0.2) * random());
}

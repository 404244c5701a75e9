import { realClock } from '../../base/clock.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** The clock of this machine, for tests: it counts who waits by it, and can run faster or slower. */
export class RealTime implements Clock {
  /** How many wait for time to pass: what is left over at the end of a test was leaked. */
  sleepers = 0;
  readonly #speed: number;
  readonly #maxSleepMs: Millis;

  /**
   * @param speed - so many of its seconds pass in one: above 1 waits between retries pass in good time, below 1 a busy machine is not late. @default 1
   * @param maxSleepMs - longer sleeps are over after this time; who asked for how long is another test's. Deadlines (`after`) keep theirs. @default Infinity
   */
  constructor({ speed = 1, maxSleepMs = Infinity } = {}) {
    this.#speed = speed;
    this.#maxSleepMs = maxSleepMs;
  }

  now = (): Millis => realClock.now();
  monotonic = (): Millis => realClock.monotonic() * this.#speed;
  sleep = (ms: Millis, signal?: AbortSignal): Promise<void> => this.#wait(Math.min(ms, this.#maxSleepMs), signal);

  after = (ms: Millis, ring: () => void): (() => void) => {
    const over = new AbortController();
    this.#wait(ms, over.signal).then(ring, () => {});
    return () => over.abort();
  };

  async #wait(ms: Millis, signal: AbortSignal | undefined): Promise<void> {
    this.sleepers += 1;
    try {
      await realClock.sleep(ms / this.#speed, signal);
    } finally {
      this.sleepers -= 1;
    }
  }
}

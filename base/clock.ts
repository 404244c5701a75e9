import { setTimeout as delay } from 'node:timers/promises';

/** A span of time, or a point on the wall clock (since 1970), in milliseconds. */
export type Millis = number;

/** The two clocks of a machine. Spans are measured on `monotonic`, which no administrator and no NTP can move. */
export interface Clock {
  /** Wall clock, ms since 1970. Jumps when someone sets it: only for what people read. */
  now(): Millis;
  /** Ms since some fixed moment, never backwards. Its zero differs between processes. */
  monotonic(): Millis;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}

// setTimeout fires at once when asked for more than this.
const LONGEST_TIMER: Millis = 2 ** 31 - 1;

/** The clock of this machine. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    const options = signal ? { signal } : {};
    for (let left = ms; left > 0; left -= LONGEST_TIMER) await delay(Math.min(left, LONGEST_TIMER), undefined, options);
  },
};

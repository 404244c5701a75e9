import type { Clock, Millis } from '../../base/clock.ts';

/** A span that the wall clock skipped: the clock was set forward, or the machine slept. */
export interface ClockGap {
  from: Millis;
  to: Millis;
}

/** A shorter gap matters to no deadline, in ms. */
const LEAST_MS: Millis = 30_000;
/** Unless one is set, the two clocks drift apart by less than this between two calls, in ms. */
const DRIFT_MS: Millis = 500;
/** Max number of gaps to keep: the latest ones. */
const MAX_GAPS = 16;

/** Detects that the wall clock was set, by comparing it with the monotonic clock. Covers the time since the process started. */
export class ClockGaps {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #last: { wall: Millis; monotonic: Millis };
  #gaps: readonly ClockGap[] = [];

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#last = { wall: clock.now(), monotonic: clock.monotonic() };
  }

  /** @returns all gaps found so far, the oldest first */
  measure(): readonly ClockGap[] {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const expected = this.#last.wall + now.monotonic - this.#last.monotonic;
    this.#last = now;
    if (now.wall > expected + LEAST_MS) this.#gaps = [...this.#gaps, { from: expected, to: inSeconds(now.wall) }].slice(-MAX_GAPS);
    // A clock that was set back runs through part of the skipped time after all.
    if (now.wall < expected - DRIFT_MS && this.#gaps.length > 0)
      this.#gaps = this.#gaps.map(({ from, to }) => ({ from, to: Math.min(to, inSeconds(now.wall)) })).filter(({ from, to }) => to > from);
    return this.#gaps;
  }
}

/** Timestamps of objects have whole seconds. */
const inSeconds = (at: Millis): Millis => Math.floor(at / 1_000) * 1_000;

/** Whether the clock was set since `at`, forward or back: the time since then is unknown, and durations are measured from now on. Pure. */
export const wasClockSet = (at: Millis, now: Millis, gaps: readonly ClockGap[] = []): boolean => at > now || gaps.some(({ to }) => to > at);

/** From when to measure a duration that began at `at`. */
export const startOf = (at: Millis, now: Millis, gaps?: readonly ClockGap[]): Millis => (wasClockSet(at, now, gaps) ? now : at);

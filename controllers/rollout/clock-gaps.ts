import type { Clock, Millis } from '../../base/clock.ts';

/** A time of the wall clock that never was: the clock was set forward over it, or the machine slept. */
export interface ClockGap {
  from: Millis;
  to: Millis;
}

/** Less than this matters to no deadline, in ms. */
const LEAST_MS: Millis = 30_000;
/** Clocks that nobody sets differ by less in one look, in ms. */
const DRIFT_MS: Millis = 500;
/** The latest ones are remembered. */
const MAX_GAPS = 16;

/** Detects that the wall clock was set, by comparing it with the monotonic clock. It knows what happened since the process started. */
export class ClockGaps {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #last: { wall: Millis; monotonic: Millis };
  #gaps: readonly ClockGap[] = [];

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#last = { wall: clock.now(), monotonic: clock.monotonic() };
  }

  /** @returns what was found until now, the oldest first */
  look(): readonly ClockGap[] {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const expected = this.#last.wall + now.monotonic - this.#last.monotonic;
    this.#last = now;
    if (now.wall > expected + LEAST_MS) this.#gaps = [...this.#gaps, { from: expected, to: inSeconds(now.wall) }].slice(-MAX_GAPS);
    // A clock that was set back goes through some of that time after all.
    if (now.wall < expected - DRIFT_MS && this.#gaps.length > 0)
      this.#gaps = this.#gaps.map(({ from, to }) => ({ from, to: Math.min(to, inSeconds(now.wall)) })).filter(({ from, to }) => to > from);
    return this.#gaps;
  }
}

/** Times on objects have no parts of a second. */
const inSeconds = (at: Millis): Millis => Math.floor(at / 1_000) * 1_000;

/** The clock was set since `at`, forward or back: nobody knows how long that is ago, and what is measured from it is measured from now on. Pure. */
export const wasClockSet = (at: Millis, now: Millis, gaps: readonly ClockGap[] = []): boolean => at > now || gaps.some(({ to }) => to > at);

/** Since when to measure what began at `at`. */
export const startOf = (at: Millis, now: Millis, gaps?: readonly ClockGap[]): Millis => (wasClockSet(at, now, gaps) ? now : at);

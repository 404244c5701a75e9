import type { Clock, Millis } from '../../base/clock.ts';

export interface PodBackoffLimits {
  /** First wait. @default 1_000 */
  base?: Millis;
  /** Longest wait. @default 900_000, fifteen minutes */
  cap?: Millis;
}

interface Entry {
  delay: Millis;
  /** Monotonic. */
  at: Millis;
}

/**
 * How long what failed in a place stays there before it is tried again: at once the first time, then one second, twice as long after each failure, and
 * fifteen minutes at most. A place where nothing failed for twice the longest wait starts again at the first wait.
 */
export class PodBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #base: Millis;
  readonly #cap: Millis;
  readonly #entries = new Map<string, Entry>();
  #swept: Millis;

  constructor(clock: Pick<Clock, 'monotonic'>, { base = 1_000, cap = 900_000 }: PodBackoffLimits = {}) {
    this.#clock = clock;
    this.#base = base;
    this.#cap = cap;
    this.#swept = clock.monotonic();
  }

  /** Places that are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** Ms until the next try, 0 when it may be now. */
  left(place: string): Millis {
    const entry = this.#entries.get(place);
    return entry === undefined ? 0 : Math.max(0, Math.ceil(entry.at + entry.delay - this.#clock.monotonic()));
  }

  /** It failed there, and is tried again now: the next failure waits for longer. */
  raise(place: string): void {
    const now = this.#clock.monotonic();
    this.#sweep(now);
    const before = this.#entries.get(place);
    const delay = before === undefined || this.#isIdle(before, now) ? this.#base : Math.min(before.delay * 2, this.#cap);
    this.#entries.set(place, { delay, at: now });
  }

  /** @param prefix - of all places to forget, such as those of an owner that is gone */
  forget(prefix: string): void {
    for (const place of this.#entries.keys()) if (place.startsWith(prefix)) this.#entries.delete(place);
  }

  #isIdle({ at }: Entry, now: Millis): boolean {
    return now - at > 2 * this.#cap;
  }

  /** Once a minute at most. */
  #sweep(now: Millis): void {
    if (now - this.#swept < 60_000) return;
    this.#swept = now;
    for (const [place, entry] of this.#entries) if (this.#isIdle(entry, now)) this.#entries.delete(place);
  }
}

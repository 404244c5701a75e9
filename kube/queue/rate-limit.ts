import { backoff } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Key } from '../cache/contract.ts';

/** How fast failing keys are requeued. The defaults are those of Kubernetes' own controllers. */
export interface RateLimits {
  /** Wait after a key's first failure in a row, in ms; doubled with each further one. @default 5 */
  base?: Millis;
  /** Longest wait of one key, in ms. @default 1_000_000 (about 17 minutes) */
  cap?: Millis;
  /** Failing keys that are requeued per second, all together, once the burst is used up. @default 10 */
  perSecond?: number;
  /** Failing keys that may be requeued at once. @default 100 */
  burst?: number;
}

/**
 * Computes how long a failed key waits: the longer of its own backoff, `base * 2 ** failures`, and the delay of the token bucket that all failing keys share.
 * Stores one number per key that failed and has not been forgotten.
 * @see docs/queues.md, "Rate limits"
 */
export class RetryLimiter {
  readonly #failures = new Map<Key, number>();
  readonly #bucket: TokenBucket;
  readonly #base: Millis;
  readonly #cap: Millis;

  /** @throws {RangeError} when `base` exceeds `cap`, or `perSecond` is not above 0 */
  constructor(clock: Pick<Clock, 'monotonic'>, { base = 5, cap = 1_000_000, perSecond = 10, burst = 100 }: RateLimits = {}) {
    if (!(base <= cap)) throw new RangeError(`base ${base} ms exceeds cap ${cap} ms`);
    this.#base = base;
    this.#cap = cap;
    this.#bucket = new TokenBucket(clock, perSecond, burst);
  }

  /** Number of keys with failures. */
  get size(): number {
    return this.#failures.size;
  }

  /**
   * Counts a failure of `key` and reserves a token for it.
   * @returns ms, finite even after a thousand failures
   */
  next(key: Key): Millis {
    const failures = this.retries(key) + 1;
    this.#failures.set(key, failures);
    const own = backoff(failures, { base: this.#base, cap: this.#cap, jitter: 0 }, () => 0);
    return Math.max(own, this.#bucket.reserve());
  }

  /** Failures of `key` since it was last forgotten. */
  retries(key: Key): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: Key): void {
    this.#failures.delete(key);
  }
}

/** Grants `burst` tokens at once and `perSecond` after that. A reserved token cannot be returned. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0: tokens that were reserved ahead of time. */
  #tokens: number;
  #filledAt: Millis;

  /** @throws {RangeError} when `perSecond` is not above 0 */
  constructor(clock: Pick<Clock, 'monotonic'>, perSecond: number, burst: number) {
    if (!(perSecond > 0)) throw new RangeError(`a rate of ${perSecond} per second never lets anyone through`);
    this.#clock = clock;
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = clock.monotonic();
  }

  /** @returns ms until the reserved token is available; 0 within the burst */
  reserve(): Millis {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs) - 1;
    this.#filledAt = now;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}

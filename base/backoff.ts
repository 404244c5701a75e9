import type { Millis } from './clock.ts';
import type { Random } from './random.ts';

export interface BackoffLimits {
  /** First wait, in ms. */
  base: Millis;
  /** Longest wait before jitter, in ms. */
  cap: Millis;
  /** Up to this share of the wait is added at random, so that a fleet does not come back in step. @default 0.2 */
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

import type { Clock, Millis } from '../../../base/clock.ts';
import type { HeldBack } from './contract.ts';

/** Pods remembered; beyond that the oldest are forgotten, and tried again too early. */
export const MAX_HELD_BACK = 10_000;

/**
 * Evictions that are not tried again yet: refused ones, and those whose effect may not be seen yet. Only a pace, lost with the process at the cost of
 * one more request for each pod.
 */
export class EvictionBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #held = new Map<string, { until: Millis; why: string }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param forMs - counted from now */
  hold(uid: string, forMs: Millis, why: string): void {
    this.#held.delete(uid);
    this.#held.set(uid, { until: this.#clock.monotonic() + forMs, why });
    if (this.#held.size <= MAX_HELD_BACK) return;
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#held.delete(oldest);
  }

  /** For {@link DrainInput.heldBack}. */
  readonly heldBack = (uid: string): HeldBack | undefined => {
    const found = this.#held.get(uid);
    if (found === undefined) return undefined;
    return { why: found.why, leftMs: Math.max(0, found.until - this.#clock.monotonic()) };
  };
}

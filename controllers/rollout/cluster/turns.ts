import type { Millis } from '../../../base/clock.ts';
import type { Key } from '../../../kube/cache/contract.ts';

/** A rollout that waits and was not looked at for longer than this keeps no place, in ms: its looks fail. */
const STALE_MS: Millis = 90_000;

/**
 * Rollouts that wait for a place in the cluster, the one that has waited longest first: whoever is not the first leaves a place for each that is before it.
 * So none waits for ever while others go on. A process that has just started knows of none, and whoever is told to wait first is the first.
 */
export class Turns {
  /** When each was looked at last, on the clock that nobody sets; in the order in which they began to wait. */
  readonly #waiting = new Map<Key, Millis>();

  /** What a look came to. */
  said(rollout: Key, waits: boolean, now: Millis): void {
    if (waits) this.#waiting.set(rollout, now);
    else this.#waiting.delete(rollout);
  }

  forget(rollout: Key): void {
    this.#waiting.delete(rollout);
  }

  /** Who has waited longer. */
  ahead(rollout: Key, now: Millis): Key[] {
    const all = [...this.#waiting];
    const at = all.findIndex(([key]) => key === rollout);
    const before = at < 0 ? all : all.slice(0, at);
    return before.filter(([, seen]) => now - seen <= STALE_MS).map(([key]) => key);
  }

  get waiting(): Key[] {
    return [...this.#waiting.keys()];
  }
}

import type { Clock, Millis } from '../../base/clock.ts';
import type { Outcome } from '../../kube/controller/outcome.ts';

/** Much longer than a working watch ever lags. */
const NOT_FOUND_TTL: Millis = 60_000;

/**
 * Sets that the server says are no more, while the cache still has them: what is made for them goes to the garbage collector, and would be made again as
 * fast as that takes it. Believed for a minute: a proxy, or a server that starts, says so of what is there, too, and no event would bring that one back.
 */
export class NotFoundCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #until = new Map<string, Millis>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param uid - the set's, here and below */
  add(uid: string): void {
    this.#until.set(uid, this.#clock.monotonic() + NOT_FOUND_TTL);
  }

  /** When to look at it again; undefined for one that is there, as far as anybody knows. */
  outcome(uid: string): Outcome | undefined {
    const until = this.#until.get(uid);
    if (until === undefined) return undefined;
    const after = Math.ceil(until - this.#clock.monotonic());
    if (after > 0) return { requeueAfter: after, why: 'the server says that the set is no more' };
    this.#until.delete(uid);
    return undefined;
  }

  /** The cache knows it too. */
  forget(uid: string): void {
    this.#until.delete(uid);
  }
}

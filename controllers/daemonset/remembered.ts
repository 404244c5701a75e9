import type { Clock, Millis } from '../../base/clock.ts';
import type { Outcome } from '../../kube/controller/outcome.ts';
import { NotFoundCache } from '../common/not-found-cache.ts';
import { EventDeduper } from '../common/events.ts';
import { PodBackoff } from '../common/pod-backoff.ts';
import { StatusThrottle } from '../common/status-throttle.ts';
import type { Memory } from './facts.ts';
import type { Rules } from './rules.ts';

/** What the controller remembers of its sets between passes. */
export class Remembered {
  readonly #failures: PodBackoff;
  readonly #holds: PodBackoff;
  readonly #pace: StatusThrottle;
  readonly #news = new EventDeduper();
  readonly #gone: NotFoundCache;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#failures = new PodBackoff(clock);
    this.#holds = new PodBackoff(clock);
    this.#pace = new StatusThrottle(clock);
    this.#gone = new NotFoundCache(clock);
  }

  /** For one set in one pass. */
  of({ set }: Rules): Memory {
    return {
      backoffMs: (node) => this.#failures.left(place(set, node)),
      creationsHeldMs: this.#holds.left(place(set, '')),
      statusHeldMs: this.#pace.heldMs(set.metadata.uid ?? ''),
    };
  }

  /** A failed pod of this node was removed. */
  failed({ set }: Rules, node: string): void {
    this.#failures.raise(place(set, node));
  }

  /** The server made another pod than it was asked to. @returns ms for which no more should be made */
  hold({ set }: Rules): Millis {
    this.#holds.raise(place(set, ''));
    return this.#holds.left(place(set, ''));
  }

  statusWritten({ set }: Rules): void {
    this.#pace.written(set.metadata.uid ?? '');
  }

  /** The server says that the set is no more, and the cache does not know it yet. */
  gone({ set }: Rules): void {
    this.#gone.add(set.metadata.uid ?? '');
  }

  /** When to look at a set again of which the server says that it is no more; undefined for any other. */
  whileGone({ metadata: { uid = '' } }: Rules['set']): Outcome | undefined {
    return this.#gone.outcome(uid);
  }

  /** Whether this is news about the set. */
  isNews({ metadata: { uid = '' } }: Rules['set'], text: string, about = ''): boolean {
    return this.#news.is(uid, text, about);
  }

  forget(uid: string): void {
    this.#failures.forget(`${uid}/`);
    this.#holds.forget(`${uid}/`);
    this.#pace.forget(uid);
    this.#news.forget(uid);
    this.#gone.forget(uid);
  }
}

/** A new generation starts anew: its pods are others. */
function place({ metadata }: Rules['set'], node: string): string {
  return `${metadata.uid ?? ''}/${metadata.generation ?? 0}/${node}`;
}

import type { Clock, Millis } from '../../base/clock.ts';
import { News } from '../common/news.ts';
import { PodBackoff } from '../common/pod-backoff.ts';
import { StatusPace } from '../common/status-pace.ts';
import type { Memory } from './facts.ts';
import type { Rules } from './rules.ts';

/** What the controller remembers of its sets between passes. */
export class Remembered {
  readonly #failures: PodBackoff;
  readonly #holds: PodBackoff;
  readonly #pace: StatusPace;
  readonly #news = new News();
  readonly #gone = new Set<string>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#failures = new PodBackoff(clock);
    this.#holds = new PodBackoff(clock);
    this.#pace = new StatusPace(clock);
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

  /** Pods that are made for it now go to the garbage collector, and would be made again as fast as that takes them. */
  isGone({ metadata: { uid = '' } }: Rules['set']): boolean {
    return this.#gone.has(uid);
  }

  /** Whether this is news about the set. */
  isNews({ set }: Rules, text: string): boolean {
    return this.#news.is(set.metadata.uid ?? '', text);
  }

  forget(uid: string): void {
    this.#failures.forget(`${uid}/`);
    this.#holds.forget(`${uid}/`);
    this.#pace.forget(uid);
    this.#news.forget(uid);
    this.#gone.delete(uid);
  }
}

/** A new generation starts anew: its pods are others. */
function place({ metadata }: Rules['set'], node: string): string {
  return `${metadata.uid ?? ''}/${metadata.generation ?? 0}/${node}`;
}

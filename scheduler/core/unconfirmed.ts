import type { Millis } from '../../base/clock.ts';
import type { Placed } from '../cache/cluster.ts';
import type { Binder } from './binder.ts';
import type { Parts } from './state.ts';
import type { Router } from './event-handlers.ts';

/** A bound pod that nobody has seen on its node for so long is asked for. */
const ASK_AFTER_MS: Millis = 60_000;
const LOOK_EVERY_MS: Millis = 10_000;

/** Pods whose binding was answered with yes, and that the watch has not shown on their nodes: asked for in the end, so that none counts for ever by mistake. */
export class Unconfirmed {
  readonly #parts: Parts;
  readonly #router: Router;
  readonly #binder: Binder;
  readonly #asking = new Set<string>();
  readonly #signal: () => AbortSignal;
  #next: Millis = 0;

  constructor(parts: Parts, router: Router, binder: Binder, signal: () => AbortSignal) {
    this.#parts = parts;
    this.#router = router;
    this.#binder = binder;
    this.#signal = signal;
  }

  /** @returns when to call again; undefined: all that were bound have been seen */
  tick(): Millis | undefined {
    const { cluster, now } = this.#parts;
    const at = now();
    // Who was bound since the last look is not known before the next one.
    if (at < this.#next) return this.#next;
    this.#next = at + Math.min(LOOK_EVERY_MS, this.#after);
    const bound = cluster.unconfirmed(at);
    for (const placed of bound) if ((placed.boundAt ?? at) <= at - this.#after && !this.#asking.has(placed.info.uid)) this.#ask(placed);
    return bound.length > 0 ? this.#next : undefined;
  }

  get #after(): Millis {
    const { assumeTtlMs } = this.#parts.config;
    return assumeTtlMs === 0 ? ASK_AFTER_MS : assumeTtlMs;
  }

  #ask({ info, state }: Placed): void {
    const { queue, latest } = this.#parts;
    this.#asking.add(info.uid);
    this.#binder
      .look(info, state.name, { said: '', mayCome: false }, this.#signal())
      .then(
        ({ is }) => {
          if (is === 'bound' || !this.#router.unassume(info)) return;
          const pod = latest(info.key);
          // It waits again, from the beginning: what the queue knew of it went with its binding.
          if (pod !== undefined && pod.uid === info.uid && pod.nodeName === '' && !pod.terminating) queue.add(pod);
        },
        () => {},
      )
      .finally(() => this.#asking.delete(info.uid));
  }
}

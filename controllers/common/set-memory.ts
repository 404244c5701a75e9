import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Outcome } from '../../kube/controller/controller.ts';
import { EventDeduper } from './events.ts';

/** What a plan may know of earlier reconciles. Losing it costs a wait, never a wrong decision. */
export interface Memory {
  /** Ms before the failed pod of a node may be deleted; 0: now. */
  backoffMs(node: string): Millis;
  /** Ms before pods may be created again, because admission rewrote the last one; 0: now. */
  creationsHeldMs: Millis;
  /** Ms until the status may be written again when only its numbers changed. @param pace - busy: the numbers are about to change again */
  statusHeldMs(pace: StatusPace): Millis;
}

export const noMemory: Memory = { backoffMs: () => 0, creationsHeldMs: 0, statusHeldMs: () => 0 };

/** The first wait, and the longest. */
const FIRST_WAIT: Millis = 1_000;
const LONGEST_WAIT: Millis = 900_000;

interface BackoffEntry {
  delay: Millis;
  /** Monotonic. */
  at: Millis;
}

/**
 * How long a failed pod stays in its place before it is replaced: the first one not at all, the next one for one second, then twice as long after each
 * failure, fifteen minutes at most. A place without a failure for twice the longest wait starts again at the first wait.
 */
export class PodBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #entries = new Map<string, BackoffEntry>();
  #swept: Millis;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#swept = clock.monotonic();
  }

  /** Number of places with an entry. */
  get size(): number {
    return this.#entries.size;
  }

  /** Ms until the next try; 0: now. */
  left(place: string): Millis {
    const entry = this.#entries.get(place);
    return entry === undefined ? 0 : Math.max(0, Math.ceil(entry.at + entry.delay - this.#clock.monotonic()));
  }

  /** Called when a failure in this place is retried: the next failure waits longer. */
  raise(place: string): void {
    const now = this.#clock.monotonic();
    this.#sweep(now);
    const before = this.#entries.get(place);
    const delay = before === undefined || this.#isIdle(before, now) ? FIRST_WAIT : Math.min(before.delay * 2, LONGEST_WAIT);
    this.#entries.set(place, { delay, at: now });
  }

  /** @param prefix - of all places to forget, such as those of a deleted owner */
  forget(prefix: string): void {
    for (const place of this.#entries.keys()) if (place.startsWith(prefix)) this.#entries.delete(place);
  }

  #isIdle({ at }: BackoffEntry, now: Millis): boolean {
    return now - at > 2 * LONGEST_WAIT;
  }

  /** Once a minute at most. */
  #sweep(now: Millis): void {
    if (now - this.#swept < 60_000) return;
    this.#swept = now;
    for (const [place, entry] of this.#entries) if (this.#isIdle(entry, now)) this.#entries.delete(place);
  }
}

/** Much longer than a working watch ever lags. */
const NOT_FOUND_TTL: Millis = 60_000;

/**
 * Sets that the API server does not find while the cache still has them: the controller would create their pods again as fast as the garbage collector
 * deletes them. An entry expires after a minute: a proxy or a starting server may return 404 for an existing set, and no event would enqueue that set.
 */
class NotFoundCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #until = new Map<string, Millis>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param uid - of the set, here and below */
  add(uid: string): void {
    this.#until.set(uid, this.#clock.monotonic() + NOT_FOUND_TTL);
  }

  /** When to reconcile the set again; undefined when the set is not known to be missing. */
  outcome(uid: string): Outcome | undefined {
    const until = this.#until.get(uid);
    if (until === undefined) return undefined;
    const after = Math.ceil(until - this.#clock.monotonic());
    if (after > 0) return { requeueAfter: after, why: 'the API server reports that the set does not exist' };
    this.#until.delete(uid);
    return undefined;
  }

  /** Called when the cache has dropped the set too. */
  forget(uid: string): void {
    this.#until.delete(uid);
  }
}

export type StatusPace = 'idle' | 'busy';

/** Min time between writes that only change numbers: a thousand pods that become ready within a second cause ten writes. */
const MIN_INTERVAL: Readonly<Record<StatusPace, Millis>> = { idle: 100, busy: 500 };

/** When the status of each set was last written. */
class StatusThrottle {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #at = new Map<string, Millis>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Ms until numbers may be written again. @param uid - of the set */
  heldMs(uid: string, pace: StatusPace): Millis {
    const at = this.#at.get(uid);
    return at === undefined ? 0 : Math.max(0, Math.ceil(at + MIN_INTERVAL[pace] - this.#clock.monotonic()));
  }

  written(uid: string): void {
    this.#at.set(uid, this.#clock.monotonic());
  }

  /** Called when the set is deleted. */
  forget(uid: string): void {
    this.#at.delete(uid);
  }
}

/** A set, or a value that holds it, such as its rules. */
interface OfSet {
  readonly set: Readonly<KubeObject>;
}

/** What a controller remembers of its sets between reconciles: backoffs of pods, when the status was written, what was reported, sets that are not found. */
export class SetMemory {
  readonly #failures: PodBackoff;
  readonly #holds: PodBackoff;
  readonly #throttle: StatusThrottle;
  readonly #deduper = new EventDeduper();
  readonly #notFound: NotFoundCache;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#failures = new PodBackoff(clock);
    this.#holds = new PodBackoff(clock);
    this.#throttle = new StatusThrottle(clock);
    this.#notFound = new NotFoundCache(clock);
  }

  /** The memory of one set, for one reconcile. */
  of({ set }: OfSet): Memory {
    return {
      backoffMs: (node) => this.#failures.left(place(set, node)),
      creationsHeldMs: this.#holds.left(place(set, '')),
      statusHeldMs: (pace) => this.#throttle.heldMs(set.metadata.uid ?? '', pace),
    };
  }

  /** Called when a failed pod of this node was deleted. */
  failed({ set }: OfSet, node: string): void {
    this.#failures.raise(place(set, node));
  }

  /** Called when admission rewrote a new pod. @returns ms before more pods may be created */
  hold({ set }: OfSet): Millis {
    this.#holds.raise(place(set, ''));
    return this.#holds.left(place(set, ''));
  }

  statusWritten({ set }: OfSet): void {
    this.#throttle.written(set.metadata.uid ?? '');
  }

  /** Called when the API server does not find the set and the cache still has it. */
  notFound({ set }: OfSet): void {
    this.#notFound.add(set.metadata.uid ?? '');
  }

  /** When to reconcile a set that the server did not find; undefined for any other set. */
  outcomeIfNotFound({ metadata: { uid = '' } }: Readonly<KubeObject>): Outcome | undefined {
    return this.#notFound.outcome(uid);
  }

  /** Whether `text` differs from the last one reported about the set. */
  isNewText({ metadata: { uid = '' } }: Readonly<KubeObject>, text: string, about = ''): boolean {
    return this.#deduper.isNew(uid, text, about);
  }

  forget(uid: string): void {
    this.#failures.forget(`${uid}/`);
    this.#holds.forget(`${uid}/`);
    this.#throttle.forget(uid);
    this.#deduper.forget(uid);
    this.#notFound.forget(uid);
  }
}

/** Includes the generation, so that a changed spec starts without backoff. */
function place({ metadata }: Readonly<KubeObject>, node: string): string {
  return `${metadata.uid ?? ''}/${metadata.generation ?? 0}/${node}`;
}

import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeObject } from '../api/object.ts';
import type { Key } from '../cache/contract.ts';
import { compareVersions } from '../cache/change.ts';
import { mayHaveTakenEffect } from '../client/errors.ts';

const RECHECK_MS: Millis = 1_000;

export interface ExpectationLimits {
  /** Time after which an owner is synced again, whatever is still missing, in ms. @default 300_000, as upstream */
  ttlMs?: Millis;
  /** How long to wait for the object of a creation whose response was lost, in ms. @default 10_000 */
  lostMs?: Millis;
  /** Called when an owner's TTL ends and something is still missing: an event was missed, or a created object was never seen. */
  onExpired?: (key: Key, missing: Missing) => void;
  /**
   * The version that the cache of the created objects has reached. An object created before that and not seen was deleted again while the cache relisted, and
   * is no longer awaited. @default unknown: such an object is awaited until the TTL ends
   */
  reached?: () => string;
}

/** What is still awaited. */
export interface Missing {
  /** Creations whose response is pending. */
  unanswered: number;
  /** UIDs of created objects not seen yet. */
  created: readonly string[];
  /** Creations whose response was lost. */
  lost: number;
  /** UIDs of deleted objects whose deletion was not seen yet. */
  deletions: readonly string[];
}

/** The calls that a pass is about to make. */
export interface Awaited {
  creations: number;
  /** UIDs of the objects to delete. */
  deletions: readonly string[];
}

/** Records the results of a pass's calls. A creation ends in at most one of `created`, `notCreated` and `lost`. Late responses never affect a later pass. */
export interface Pass {
  /**
   * Creates one object and records the result with one of the three methods below. Callers should use this unless they have a reason not to.
   * @param call - the create request and nothing else
   * @param isFinal - whether a retry after this error is pointless: the creation then stays awaited until the TTL ends. @default never
   * @returns the response @throws the error of `call`
   * @see mayHaveTakenEffect
   */
  create<T extends KubeObject>(call: () => Promise<T>, isFinal?: (error: unknown) => boolean): Promise<T>;
  /** A creation succeeded. @param version - the object's resourceVersion. @default unknown */
  created(uid: string, version?: string): void;
  /** The server rejected the creation, or the request was not sent. @param count - @default 1 */
  notCreated(count?: number): void;
  /** The result is unknown: the request was sent and its response was lost. */
  lost(): void;
  /** The server rejected the deletion, or the object was already deleted. */
  notDeleted(uid: string): void;
}

interface Waiting {
  readonly until: Millis;
  /** Creations whose response is pending. */
  unanswered: number;
  /** Created objects not seen yet: UID to resourceVersion. */
  readonly created: Map<string, string>;
  /** UIDs of all created objects, seen or not. */
  readonly mine: Set<string>;
  /** First sighting of each object while a pending response may be about it: the watch is often faster. */
  readonly seen: Map<string, 'came' | 'went'>;
  /** Creations whose response was lost. */
  lost: number;
  lostUntil: Millis;
  /** UIDs whose deletion was not seen yet. */
  readonly deletions: Set<string>;
}

/**
 * Creations and deletions of each owner's last pass that the cache does not show yet. On the stale cache the next pass would repeat them.
 *
 * Creations are awaited by the UID in their response, deletions by the UID they name, so that objects created or deleted by others, repeated events and late
 * events of an earlier pass do not count. A deletion is seen at the `deletionTimestamp` or at the removal, whichever comes first. An object created and
 * deleted while the cache relisted is in no event: the cache's version shows that ({@link ExpectationLimits.reached}). Nothing is awaited longer than the
 * TTL: a missed event delays an owner and never stops it.
 */
export class Expectations {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: Millis;
  readonly #lostMs: Millis;
  readonly #onExpired: ExpectationLimits['onExpired'];
  readonly #reached: ExpectationLimits['reached'];
  /** Ordered by `until`: a new entry goes last. */
  readonly #waiting = new Map<Key, Waiting>();

  constructor(clock: Pick<Clock, 'monotonic'>, { ttlMs = 300_000, lostMs = 10_000, onExpired, reached }: ExpectationLimits = {}) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#lostMs = lostMs;
    this.#onExpired = onExpired;
    this.#reached = reached;
  }

  /** Owners with expectations. Expired ones count until they are queried, or until the next `expect`. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Begins a pass: replaces the owner's expectations. Call it before the first request, in the turn in which the objects to delete were read from the cache:
   * changes seen before this call do not count.
   */
  expect(key: Key, { creations, deletions }: Awaited): Pass {
    this.#sweep();
    const waiting: Waiting = {
      until: this.#clock.monotonic() + this.#ttlMs,
      unanswered: creations,
      created: new Map(),
      mine: new Set(),
      seen: new Map(),
      lost: 0,
      lostUntil: 0,
      deletions: new Set(deletions),
    };
    this.#waiting.delete(key);
    this.#waiting.set(key, waiting);
    const settle = (): void => this.#settle(key, waiting);
    settle();
    const calls: Omit<Pass, 'create'> = {
      created: (uid, version = '') => {
        waiting.unanswered -= 1;
        waiting.mine.add(uid);
        if (!waiting.seen.has(uid)) waiting.created.set(uid, version);
        settle();
      },
      notCreated: (count = 1) => {
        waiting.unanswered -= count;
        settle();
      },
      lost: () => {
        waiting.unanswered -= 1;
        waiting.lost += 1;
        waiting.lostUntil = this.#clock.monotonic() + this.#lostMs;
        settle();
      },
      notDeleted: (uid) => {
        waiting.deletions.delete(uid);
        settle();
      },
    };
    return { ...calls, create: (call, isFinal) => create(call, calls, isFinal) };
  }

  /** An object of this owner appeared. Not for one that was adopted, or that is already being deleted. */
  creationSeen(key: Key, uid: string): void {
    this.#see(key, uid, 'came');
  }

  /** An object of this owner is terminating, deleted, or released. One that is deleted before its creation was seen is no longer awaited. */
  deletionSeen(key: Key, uid: string): void {
    this.#waiting.get(key)?.deletions.delete(uid);
    this.#see(key, uid, 'went');
  }

  /** Ms until the owner's expectations expire, at least 1: enqueue the owner then, since an event may never come. undefined when nothing is awaited. */
  expiresIn(key: Key): Millis | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined || this.#isPassed(key, waiting)) return undefined;
    const left = endOf(waiting) - this.#clock.monotonic();
    if (left > 0) return Math.max(1, Math.ceil(left));
    this.#waiting.delete(key);
    if (!isOnlyLost(waiting)) this.#onExpired?.(key, missing(waiting));
    return undefined;
  }

  /** Ms until the owner must be checked again, even without an event: a second where a list may tell, else as {@link expiresIn}. undefined: nothing awaited. */
  requeueAfter(key: Key): Millis | undefined {
    const left = this.expiresIn(key);
    if (left === undefined || this.#reached === undefined || this.#waiting.get(key)?.created.size === 0) return left;
    return Math.min(RECHECK_MS, left);
  }

  /** The owner was deleted: a successor with its name starts clean. */
  forget(key: Key): void {
    this.#waiting.delete(key);
  }

  #see(key: Key, uid: string, how: 'came' | 'went'): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    waiting.created.delete(uid);
    if ((waiting.unanswered > 0 || waiting.lost > 0) && !waiting.seen.has(uid)) waiting.seen.set(uid, how);
    this.#settle(key, waiting);
  }

  /** Removes created objects whose version the cache has passed. @returns whether nothing is awaited any more */
  #isPassed(key: Key, waiting: Waiting): boolean {
    if (waiting.created.size === 0 || this.#reached === undefined) return false;
    const reached = this.#reached();
    for (const [uid, version] of waiting.created)
      if (version !== '' && (compareVersions(reached, version) ?? -1) >= 0) waiting.created.delete(uid);
    this.#settle(key, waiting);
    return !this.#waiting.has(key);
  }

  #settle(key: Key, waiting: Waiting): void {
    const idle = isOnlyLost(waiting) && lostLeft(waiting) === 0;
    if (idle && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
  }

  /** Removes expired owners: those whose deletion was missed would stay forever. The oldest are first. */
  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const [key, { until }] of this.#waiting) {
      if (until > now) return;
      this.expiresIn(key);
    }
  }
}

async function create<T extends KubeObject>(
  call: () => Promise<T>,
  pass: Pick<Pass, 'created' | 'notCreated' | 'lost'>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  let made: T;
  try {
    made = await call();
  } catch (error) {
    if (mayHaveTakenEffect(error)) pass.lost();
    else if (!isFinal(error)) pass.notCreated();
    throw error;
  }
  // Without a UID the object cannot be recognized when it appears.
  if (made.metadata.uid === undefined || made.metadata.uid === '') pass.lost();
  else pass.created(made.metadata.uid, made.metadata.resourceVersion);
  return made;
}

function endOf(waiting: Waiting): Millis {
  return isOnlyLost(waiting) ? Math.min(waiting.until, waiting.lostUntil) : waiting.until;
}

function isOnlyLost({ unanswered, created, deletions }: Waiting): boolean {
  return unanswered <= 0 && created.size === 0 && deletions.size === 0;
}

/** An object that appeared and is in no response may be the result of a lost creation, once all responses have arrived. */
function lostLeft({ lost, seen, mine }: Waiting): number {
  if (lost === 0) return 0;
  let explained = 0;
  for (const [uid, how] of seen) if (how === 'came' && !mine.has(uid)) explained += 1;
  return Math.max(0, lost - explained);
}

function missing(waiting: Waiting): Missing {
  const { unanswered, created, deletions } = waiting;
  return { unanswered, created: [...created.keys()], lost: lostLeft(waiting), deletions: [...deletions] };
}

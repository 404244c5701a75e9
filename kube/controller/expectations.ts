import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeObject } from '../api/object.ts';
import type { Key } from '../cache/contract.ts';
import { compareVersions } from '../cache/change.ts';
import { mayHaveTakenEffect } from '../client/errors.ts';

const LOOK_AGAIN_MS: Millis = 1_000;

export interface ExpectationLimits {
  /** Time after which an owner is synced again, whatever is still missing, in ms. @default 300_000, as upstream */
  ttlMs?: Millis;
  /** How long to wait for what a creation without an answer may have made, in ms. @default 10_000 */
  lostMs?: Millis;
  /** Told when an owner's time is over and something is still missing: an event was missed, or what was made went unseen. */
  onExpired?: (key: Key, missing: Missing) => void;
  /**
   * The version that the cache of what is created has reached. What was created before that and not seen was deleted again while the cache relisted: it is
   * awaited no more. @default unknown: such a one is awaited until the end
   */
  reached?: () => string;
}

/** What is still waited for. */
export interface Missing {
  /** Creations without an answer. */
  unanswered: number;
  /** UIDs of what was made. */
  created: readonly string[];
  /** Creations whose answer will never come. */
  lost: number;
  /** UIDs of what is to go. */
  deletions: readonly string[];
}

/** What a pass is about to do. */
export interface Awaited {
  creations: number;
  /** UIDs of what is deleted. */
  deletions: readonly string[];
}

/** What its own calls told a pass. Every creation ends in one of `created`, `notCreated` and `lost` at most. Late answers never touch a later pass. */
export interface Pass {
  /**
   * Makes one object and sorts what becomes of it into the three below: what a caller should do that has no reason not to.
   * @param call - the creation and nothing else
   * @param isFinal - of an error after which nothing is worth another try: the creation is awaited until the end. @default of none
   * @returns its answer @throws what it threw
   * @see mayHaveTakenEffect
   */
  create<T extends KubeObject>(call: () => Promise<T>, isFinal?: (error: unknown) => boolean): Promise<T>;
  /** The answer to a creation. @param version - its resourceVersion. @default unknown */
  created(uid: string, version?: string): void;
  /** The server said no, or was never asked. @param count - @default 1 */
  notCreated(count?: number): void;
  /** Nobody knows: the call was sent and its answer never came. */
  lost(): void;
  /** The server said no, or it was gone already. */
  notDeleted(uid: string): void;
}

interface Waiting {
  readonly until: Millis;
  /** Calls whose answer is still to come. */
  unanswered: number;
  /** Made, and not yet seen: the version of each. */
  readonly created: Map<string, string>;
  /** Made, seen or not. */
  readonly mine: Set<string>;
  /** First sight of each object, as long as an answer may be about it: the watch is often faster. */
  readonly seen: Map<string, 'came' | 'went'>;
  /** Calls whose answer will never come. */
  lost: number;
  lostUntil: Millis;
  /** Not yet seen to go. */
  readonly deletions: Set<string>;
}

/**
 * What the last pass of each owner did and the cache has not shown yet. Until it has, the cache would have the next pass do it again.
 *
 * Creations are awaited by the UID in their answer, deletions by the UID they name, so that what somebody else made or removed, an event told
 * twice and a late one of an earlier pass count for nothing. A deletion is seen at the `deletionTimestamp` or at the removal, whichever comes
 * first. What was created and deleted while the cache relisted is in no event: the cache's version tells ({@link ExpectationLimits.reached}). Nothing is waited for
 * longer than the TTL: a missed event delays an owner and never stops it.
 */
export class Expectations {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: Millis;
  readonly #lostMs: Millis;
  readonly #onExpired: ExpectationLimits['onExpired'];
  readonly #reached: ExpectationLimits['reached'];
  /** In the order of their ends: a new one goes last. */
  readonly #waiting = new Map<Key, Waiting>();

  constructor(clock: Pick<Clock, 'monotonic'>, { ttlMs = 300_000, lostMs = 10_000, onExpired, reached }: ExpectationLimits = {}) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#lostMs = lostMs;
    this.#onExpired = onExpired;
    this.#reached = reached;
  }

  /** Owners that wait. Expired ones count until somebody asks for them, or for room. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Begins a pass: replaces what was awaited. Call it before the first call, in the turn in which the deleted ones were read from the cache:
   * what is seen earlier is missed.
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

  /** Nothing is awaited any more, or for too long. */
  satisfied(key: Key): boolean {
    return this.expiresIn(key) === undefined;
  }

  /** Ms until the owner need not wait any longer, at least 1: enqueue it then, for no event may come. undefined when it waits for nothing. */
  expiresIn(key: Key): Millis | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined || this.#isPassed(key, waiting)) return undefined;
    const left = endOf(waiting) - this.#clock.monotonic();
    if (left > 0) return Math.max(1, Math.ceil(left));
    this.#waiting.delete(key);
    if (!isOnlyLost(waiting)) this.#onExpired?.(key, missing(waiting));
    return undefined;
  }

  /** Ms until it is worth looking again, without an event too: a second where a list may tell, else as {@link expiresIn}. undefined when it waits for nothing. */
  requeueAfter(key: Key): Millis | undefined {
    const left = this.expiresIn(key);
    if (left === undefined || this.#reached === undefined || this.#waiting.get(key)?.created.size === 0) return left;
    return Math.min(LOOK_AGAIN_MS, left);
  }

  /** What it waits for, for people. undefined for nothing. */
  awaited(key: Key): Missing | undefined {
    const waiting = this.#waiting.get(key);
    return waiting === undefined ? undefined : missing(waiting);
  }

  /** The owner is gone: another one of its name starts clean. */
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

  /** Takes away what the cache has passed over. @returns whether nothing is left to wait for */
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

  /** Owners whose deletion was not seen would stay forever; the oldest are first. */
  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const [key, { until }] of this.#waiting) {
      if (until > now) return;
      this.#waiting.delete(key);
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
  // Without a UID it cannot be told from others when it comes.
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

/** A pod that came and is in no answer may be what a lost call created, once all answers are in. */
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

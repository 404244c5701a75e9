import type { Clock, Millis } from '../../base/clock.ts';
import { type KubeObject, type Resource, resourceName } from '../api/object.ts';
import { type Informer, type Key, objectKey } from '../cache/contract.ts';
import { compareVersions } from '../cache/change.ts';
import type { Outcome } from './controller.ts';

/** What is read of a cache. */
export type SeenCache = Pick<Informer<KubeObject>, 'resource' | 'version' | 'get'>;

export interface OwnWritesMetrics {
  /** A decision was postponed, since the cache is older than an own write. */
  heldBack(): void;
  /** A write was not seen within the limit, and is no longer awaited. */
  gaveUp(): void;
}

const noOwnWritesMetrics: OwnWritesMetrics = { heldBack() {}, gaveUp() {} };

const RECHECK_MS: Millis = 1_000;

interface Written {
  uid: string;
  /** '' for a deletion, whose version is unknown. */
  version: string;
  /** The cache held an object with this UID at the time of the write. */
  wasThere: boolean;
}

interface Kind {
  /** Of versions that can be compared only the newest is kept: a cache that shows it shows the earlier ones. */
  newest: { key: Key; written: Written } | undefined;
  /** Deletions, and versions that cannot be compared. */
  readonly others: Map<Key, Written>;
}

interface Owner {
  until: Millis;
  readonly kinds: Map<string, Kind>;
}

/**
 * Writes of this process that the caches do not show yet, by owner. A decision on a cache older than the owner's last write would repeat that write.
 *
 * A write is seen once the cache as a whole has reached its version, or holds the object at that version or a later one. So an object that was deleted or
 * recreated since, or that a relist skipped, does not hold back its owner. Where versions cannot be compared, the cache must hold the object in the written
 * state, or must have held it before the write and no longer.
 *
 * Nothing is awaited longer than the limit, counted from the owner's last write. The limit exceeds every reconnect, relist and bookmark interval of a healthy
 * cache; a version that has not arrived by then never will (a store restored from a backup has lower versions), and an owner that is not reconciled is worse
 * than a decision that UID preconditions and fixed names keep harmless.
 */
export class OwnWrites {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limitMs: Millis;
  readonly #metrics: OwnWritesMetrics;
  /** In the order of their last write. */
  readonly #owners = new Map<Key, Owner>();

  /** @param limitMs - time after its last write at which an owner's writes are given up, in ms. @default 300_000 */
  constructor(clock: Pick<Clock, 'monotonic'>, { limitMs = 300_000, metrics = noOwnWritesMetrics }: OwnWritesOptions = {}) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#metrics = metrics;
  }

  /** Owners with writes not yet known to be seen. */
  get size(): number {
    return this.#owners.size;
  }

  /** @param answer - the response to a create, replace or patch. @param cache - of the object's kind */
  wrote(owner: Key, cache: SeenCache, answer: KubeObject): void {
    const { uid = '', resourceVersion = '' } = answer.metadata;
    if (uid === '' || resourceVersion === '') return;
    const key = objectKey(answer);
    const kind = this.#kindOf(owner, cache.resource);
    const written = { uid, version: resourceVersion, wasThere: cache.get(key)?.metadata.uid === uid };
    if (compareVersions(resourceVersion, '1') === undefined) kind.others.set(key, written);
    else if (kind.newest === undefined || isAtLeast(resourceVersion, kind.newest.written.version)) kind.newest = { key, written };
  }

  /** The server accepted the deletion of `object`: seen once the object is terminating, removed or recreated. */
  deleted(owner: Key, cache: SeenCache, object: Readonly<KubeObject>): void {
    const { uid = '' } = object.metadata;
    if (uid !== '') this.#kindOf(owner, cache.resource).others.set(objectKey(object), { uid, version: '', wasThere: true });
  }

  /**
   * Whether these caches show every write for the owner, or the limit has passed. If not, do nothing for the owner: the pending event enqueues it, and
   * {@link requeueAfter} returns when to check again without one.
   * @throws {RangeError} when none of `caches` is of a kind that was written: a bug of the caller
   */
  caughtUp(owner: Key, caches: readonly SeenCache[]): boolean {
    const writes = this.#owners.get(owner);
    if (writes === undefined) return true;
    for (const [name, kind] of writes.kinds) {
      const cache = caches.find(({ resource }) => resourceName(resource) === name);
      if (cache === undefined) throw new RangeError(`no cache of ${name} was given, and ${owner} has writes to it`);
      if (kind.newest !== undefined && isSeen(kind.newest.key, kind.newest.written, cache)) kind.newest = undefined;
      for (const [key, written] of kind.others) if (isSeen(key, written, cache)) kind.others.delete(key);
      if (kind.newest === undefined && kind.others.size === 0) writes.kinds.delete(name);
    }
    if (writes.kinds.size === 0) {
      this.#owners.delete(owner);
      return true;
    }
    if (writes.until <= this.#clock.monotonic()) {
      this.#owners.delete(owner);
      this.#metrics.gaveUp();
      return true;
    }
    this.#metrics.heldBack();
    return false;
  }

  /**
   * Ms until the owner must be checked again, at least 1: a second, since a bookmark or a list may bring a cache up to date without an event for the owner;
   * less when the limit ends before that. undefined when nothing is awaited.
   */
  requeueAfter(owner: Key): Millis | undefined {
    const writes = this.#owners.get(owner);
    if (writes === undefined) return undefined;
    return Math.min(RECHECK_MS, Math.max(1, Math.ceil(writes.until - this.#clock.monotonic())));
  }

  /** The owner was deleted. */
  forget(owner: Key): void {
    this.#owners.delete(owner);
  }

  #kindOf(owner: Key, resource: Resource): Kind {
    const now = this.#clock.monotonic();
    const writes = this.#owners.get(owner) ?? { until: 0, kinds: new Map<string, Kind>() };
    writes.until = now + this.#limitMs;
    this.#owners.delete(owner);
    this.#owners.set(owner, writes);
    // An owner that was deleted during its last pass is never queried again, so expired ones are removed here; the oldest are first.
    for (const [other, { until }] of this.#owners) {
      if (until > now) break;
      this.#owners.delete(other);
    }
    const name = resourceName(resource);
    const kind: Kind = writes.kinds.get(name) ?? { newest: undefined, others: new Map() };
    writes.kinds.set(name, kind);
    return kind;
  }
}

export interface OwnWritesOptions {
  limitMs?: Millis;
  metrics?: OwnWritesMetrics;
}

function isSeen(key: Key, written: Written, cache: SeenCache): boolean {
  const there = cache.get(key);
  const same = there?.metadata.uid === written.uid;
  if (written.version === '') return !same || there?.metadata.deletionTimestamp !== undefined;
  if (isAtLeast(cache.version, written.version)) return true;
  return same ? isAtLeast(there?.metadata.resourceVersion ?? '', written.version) : written.wasThere;
}

/** Unlike "not older": versions that cannot be compared are not known to be newer. */
function isAtLeast(version: string, wanted: string): boolean {
  return (compareVersions(version, wanted) ?? -1) >= 0;
}

export interface HoldBack {
  ownWrites: Pick<OwnWrites, 'caughtUp' | 'requeueAfter'>;
  /** One for each kind that the controller writes. */
  caches: readonly SeenCache[];
}

/**
 * The first check of every reconcile of an existing owner: the caches must show the writes of the last passes, or the reconcile would repeat them.
 * @returns when to check again, even without an event; undefined to continue
 * @throws {RangeError} when a kind that was written is not among the caches: a bug of the caller
 */
export function holdBack(key: Key, { ownWrites, caches }: HoldBack): Extract<Outcome, { requeueAfter: Millis }> | undefined {
  if (ownWrites.caughtUp(key, caches)) return undefined;
  return { requeueAfter: ownWrites.requeueAfter(key) ?? 0, why: 'own writes are not seen yet' };
}

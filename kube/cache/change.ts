import { type Key, objectKey } from './contract.ts';
import type { KubeObject } from '../api/object.ts';

/** A change of one object, as the cache applies it and passes it to its handlers. */
export type Change<T extends KubeObject> =
  | { do: 'add'; object: T }
  | { do: 'update'; before: T; after: T }
  /** `unseen`: the deletion event was missed; `last` is the last known state. */
  | { do: 'delete'; last: T; unseen: boolean };

/** `lost`: earlier events are missing, so only a relist restores the state. */
export type AppliedEvent<T extends KubeObject> = readonly Change<T>[] | 'lost';

const nothing: readonly never[] = [];

/** The changes that replace `held` with the listed `object` of that name; none when both are the same state. */
export function replace<T extends KubeObject>(held: T | undefined, object: T): readonly Change<T>[] {
  if (held === undefined) return [{ do: 'add', object }];
  if (isSameState(held, object)) return nothing;
  if (held.metadata.uid !== object.metadata.uid) {
    return [
      { do: 'delete', last: held, unseen: true },
      { do: 'add', object },
    ];
  }
  return [{ do: 'update', before: held, after: object }];
}

/**
 * Yields the changes that turn `held` into exactly `items`, and undefined for an unchanged object, so that a caller that works in slices can count objects.
 * The caller may apply each change to `held` during the iteration. Duplicate items are ignored.
 */
export function* difference<T extends KubeObject>(
  items: readonly T[],
  held: { get(key: Key): T | undefined; keys(): Iterable<Key> },
): Generator<Change<T> | undefined, void, undefined> {
  const there = new Set<Key>();
  for (const item of items) {
    const key = objectKey(item);
    if (there.has(key)) continue;
    there.add(key);
    const changes = replace(held.get(key), item);
    if (changes.length === 0) yield undefined;
    else yield* changes;
  }
  for (const key of held.keys()) {
    const last = there.has(key) ? undefined : held.get(key);
    yield last === undefined ? undefined : { do: 'delete', last, unseen: true };
  }
}

/**
 * The changes that a watch event makes to a cache that holds `held` under that name and is complete up to version `upTo`.
 * Servers send each event of a kind once, in the order of versions. A repeated or late event never reverts an object: an event older than `held` is ignored.
 * An event older than `upTo` about an object that is not held is `lost`: it is either a repeated event of an object deleted since, or an event that was
 * missed.
 */
export function applyEvent<T extends KubeObject>(
  held: T | undefined,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: T,
  upTo: string,
): AppliedEvent<T> {
  const version = object.metadata.resourceVersion ?? '';
  if (type === 'DELETED') {
    // Equal versions count as a deletion: servers before 1.9 sent DELETED with the object's last version.
    if (held === undefined || isOlder(version, held.metadata.resourceVersion ?? '')) return nothing;
    if (held.metadata.uid === object.metadata.uid) return [{ do: 'delete', last: object, unseen: false }];
    // The event is about a successor whose ADDED was missed; the held object was deleted before it.
    return [{ do: 'delete', last: held, unseen: true }];
  }
  if (held === undefined) return isOlder(version, upTo) ? 'lost' : [{ do: 'add', object }];
  if (isOlder(version, held.metadata.resourceVersion ?? '')) return nothing;
  return replace(held, object);
}

/**
 * Which of two resourceVersions of one kind is newer: below 0 when `a` is older, 0 when they are the same, above 0 when it is newer.
 * undefined where the order is unknown: officially versions are opaque, so only versions of digits alone (all of them, so far) are compared.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!isCounted(a) || !isCounted(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `a` is known to be older than `b`. */
export function isOlder(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) < 0;
}

/** Whether both are the same state of the same object. Objects without versions are never the same. */
export function isSameState(a: KubeObject, b: KubeObject): boolean {
  const { uid, resourceVersion } = a.metadata;
  return resourceVersion !== undefined && resourceVersion === b.metadata.resourceVersion && uid === b.metadata.uid;
}

function isCounted(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}

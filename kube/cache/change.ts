import { type Key, objectKey } from './contract.ts';
import type { KubeObject } from '../api/object.ts';

/** What happened to one object, as the cache takes it over and tells it. */
export type Change<T extends KubeObject> =
  | { do: 'add'; object: T }
  | { do: 'update'; before: T; after: T }
  /** `unseen`: a list no longer has it; `last` is the last state known. */
  | { do: 'delete'; last: T; unseen: boolean };

/** `lost`: what came before this event is missing, so that only a new list tells how things are. */
export type AppliedEvent<T extends KubeObject> = readonly Change<T>[] | 'lost';

const nothing: readonly never[] = [];

/** The changes that replace `held` with the listed `object` of that name. None when it is the same state. */
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
 * What turns `held` into exactly `items`, change by change; undefined for an object that stays as it is, so that whoever shares out the work can
 * count. `held` may be changed accordingly meanwhile. An item that is listed twice counts once.
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
 * Servers send the events of a kind in the order of their versions, once. Whatever repeats or overtakes anyway never takes an object back:
 * an event older than what is held says nothing new, and one that is older than `upTo` about an object that is not held cannot be told from the
 * echo of something deleted since.
 */
export function applyEvent<T extends KubeObject>(
  held: T | undefined,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: T,
  upTo: string,
): AppliedEvent<T> {
  const version = object.metadata.resourceVersion ?? '';
  if (type === 'DELETED') {
    // Equal versions: servers before 1.9 gave a deletion no version of its own event.
    if (held === undefined || isOlder(version, held.metadata.resourceVersion ?? '')) return nothing;
    if (held.metadata.uid === object.metadata.uid) return [{ do: 'delete', last: object, unseen: false }];
    // A successor came and went without our hearing of it; ours went before it did.
    return [{ do: 'delete', last: held, unseen: true }];
  }
  if (held === undefined) return isOlder(version, upTo) ? 'lost' : [{ do: 'add', object }];
  if (isOlder(version, held.metadata.resourceVersion ?? '')) return nothing;
  return replace(held, object);
}

/**
 * Which of two resourceVersions of one kind is newer: below 0 when `a` is older, 0 when they are the same, above 0 when it is newer.
 * undefined where nothing can be said: officially versions are opaque, and only those of digits alone (all of them, so far) are counted up.
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

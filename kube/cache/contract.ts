import type { KubeObject, Resource } from '../api/object.ts';

/**
 * The key of an object in caches and queues: `namespace/name`, or the name alone for a cluster-scoped object.
 * @see objectKey
 */
export type Key = string;

export function objectKey({ metadata: { namespace, name = '' } }: Pick<KubeObject, 'metadata'>): Key {
  if (namespace === undefined || namespace === '') return name;
  // Lists are sorted by namespace. Consecutive keys share their prefix, which each of 150,000 keys would otherwise store separately.
  if (namespace !== latest.namespace) latest = { namespace, beginning: `${namespace}/` };
  return latest.beginning + name;
}

let latest = { namespace: '', beginning: '/' };

/** Splits a {@link Key}. */
export function parseKey(key: Key): { namespace?: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Callbacks for the changes of a cache, in order for each object. The cache calls them after each change, in the same turn of the event loop: only compute
 * keys and enqueue here. Objects belong to the cache: never modify one. An object that was deleted and recreated under its name is reported as `deleted`,
 * then `added`, never as an update.
 */
export interface Handlers<T extends KubeObject> {
  /** `initial`: the object was in the cache when this handler was added, or came with the first list. */
  added?(object: Readonly<T>, initial: boolean): void;
  /** With equal resourceVersions it is a resync: nothing changed. */
  updated?(before: Readonly<T>, after: Readonly<T>): void;
  /** `unseen`: the deletion itself was missed (a list no longer has the object); `last` is then the last known state, perhaps stale. */
  deleted?(last: Readonly<T>, unseen: boolean): void;
}

/** Reads a cache. Results show the cache at the time of the call; the objects belong to the cache. */
export interface Lister<T extends KubeObject> {
  readonly size: number;
  get(key: Key): Readonly<T> | undefined;
  /** In no particular order. @param namespace - only objects of this namespace */
  list(namespace?: string): Readonly<T>[];
  /** Objects that index `name` has under `value`. @throws {RangeError} for an index that was not declared */
  indexed(name: string, value: string): Readonly<T>[];
}

/** The values under which an index has an object: none, one or several. Pure. */
export type IndexBy<T extends KubeObject> = (object: Readonly<T>) => readonly string[];

export interface Registration {
  /** This handler has received every object of the first list. */
  readonly synced: boolean;
  /** The handlers are not called after this. */
  remove(): void;
}

/** A local copy of all objects of a kind (or a selection of them), and the handlers that are called for its changes. */
export interface Informer<T extends KubeObject> extends Lister<T> {
  readonly resource: Resource;
  /** The first list is in the cache, and every handler has received it. Never false again. */
  readonly synced: boolean;
  /**
   * The cache shows a state that the server had: the first list is in, and no relist is being applied. False for fractions of a second; do not decide then,
   * since deleted pods may be missing before their successors appear, or both may be present.
   */
  readonly settled: boolean;
  /**
   * The watch continues from `version`, which the server is known to have reached. False from a broken connection until the server confirms that it has
   * reached `version`, or a relist is applied: until then other caches may already show a restored etcd.
   */
  readonly current: boolean;
  /** The resourceVersion up to which the cache is complete; '' before the first list. */
  readonly version: string;
  /** @param name - for logs and metrics, such as `daemonset` */
  addHandlers(name: string, handlers: Handlers<T>): Registration;
  /** Resolves once synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Resolves once settled; rejects with the signal's reason. Check `settled` again before deciding: the next relist may have begun. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Lists and watches until the signal aborts; then resolves. Call it once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Calls `read` once per object and keeps the result: a cached object never changes, so the result stays valid as long as the object exists. */
export function memoize<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new WeakMap<T, R>();
  return (object) => {
    const value = known.get(object) ?? read(object);
    known.set(object, value);
    return value;
  };
}

import type { KubeObject, Resource } from '../api/object.ts';

/**
 * `namespace/name`, or the name alone of what lives in no namespace: how caches and queues call an object.
 * @see objectKey
 */
export type Key = string;

export function objectKey({ metadata: { namespace, name = '' } }: Pick<KubeObject, 'metadata'>): Key {
  if (namespace === undefined || namespace === '') return name;
  // Lists go namespace by namespace. Keys of the same beginning share it, which each of 150,000 would else store separately.
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
 * What a reader of a cache is told, in the order in which it happened to each object. Called in the turn in which the cache changed, after it:
 * do nothing here but compute keys and enqueue. Objects belong to the cache: never change one.
 * An object that was deleted and made again under its name is told as `deleted`, then `added`, never as an update.
 */
export interface Handlers<T extends KubeObject> {
  /** `initial`: it was there when this handler came. */
  added?(object: Readonly<T>, initial: boolean): void;
  /** With equal resourceVersions it is a resync: nothing changed. */
  updated?(before: Readonly<T>, after: Readonly<T>): void;
  /** `unseen`: the deletion itself was missed (a list no longer had it); `last` is then the last state known, perhaps stale. */
  deleted?(last: Readonly<T>, unseen: boolean): void;
}

/** Reads a cache. Answers are what the cache knew at the time of the call, and belong to it. */
export interface Lister<T extends KubeObject> {
  readonly size: number;
  get(key: Key): Readonly<T> | undefined;
  /** In no particular order. @param namespace - only of this one */
  list(namespace?: string): Readonly<T>[];
  /** Objects that index `name` has under `value`. @throws {RangeError} for an index that was not declared */
  indexed(name: string, value: string): Readonly<T>[];
}

/** The values under which an index has an object: none, one or several. Pure. */
export type IndexBy<T extends KubeObject> = (object: Readonly<T>) => readonly string[];

export interface Registration {
  /** This handler has been told everything that the first list held. */
  readonly synced: boolean;
  /** No calls after this. */
  remove(): void;
}

/** A local copy of all objects of a kind (or a selection of them), and the handlers that are called for its changes. */
export interface Informer<T extends KubeObject> extends Lister<T> {
  readonly resource: Resource;
  /** The first list is in, and every handler was told. Never false again. */
  readonly synced: boolean;
  /**
   * The cache shows a state that the server had: the first list is in, and no relist is being applied. False for parts of a second at a time; decide on
   * nothing then, since pods may be gone whose successors are not there yet, or both be there at once.
   */
  readonly settled: boolean;
  /**
   * The server was asked for changes since `version`, and nothing has put it into doubt. False from when its connection broke until it has said that it
   * reached `version`, or a new list is in: other caches may show a restored etcd by then.
   */
  readonly current: boolean;
  /** The resourceVersion up to which the cache knows everything; '' before the first list. */
  readonly version: string;
  /** @param name - for logs and metrics, such as `daemonset` */
  addHandlers(name: string, handlers: Handlers<T>): Registration;
  /** Resolves once synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Resolves once settled; rejects with the signal's reason. Look at `settled` again before you decide: the next relist may have begun. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Lists and watches until the signal aborts; then resolves. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Reads each object once: one of a cache never changes, so what was read stays true for as long as the object is there. */
export function memoize<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new WeakMap<T, R>();
  return (object) => {
    const value = known.get(object) ?? read(object);
    known.set(object, value);
    return value;
  };
}

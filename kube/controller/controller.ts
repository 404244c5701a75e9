import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../api/object.ts';
import type { Change } from '../cache/change.ts';
import type { Informer, Key, Lister } from '../cache/contract.ts';
import type { Reconcile } from './workers.ts';

/**
 * A controller as data: the objects whose keys it reconciles, and the changes of other objects that enqueue a key. It is level-triggered: a change carries
 * nothing but the key, and reconcile reads the caches again.
 *
 * All functions but `reconcile` are called in the turn in which a cache changed, before the key is reconciled. They may note the change for the next reconcile; they
 * neither wait nor modify their arguments.
 */
export interface Controller<T extends KubeObject> {
  /** For logs, metrics and the queue: `daemonset`. */
  name: string;
  /** The objects that it reconciles. Each change and each resync enqueues the object's key; comparing states is left to reconcile. */
  primary: Informer<T>;
  /** Objects written by this controller alone, through controller references. */
  owns?: readonly Owns<T, KubeObject>[];
  /** Objects that it only reads. */
  reads?: readonly Reads<T, KubeObject>[];
  /**
   * The object was deleted, or replaced by another one of its name: drop what is stored for it (expectations, own writes). Its key is enqueued next. A
   * reconcile that is running may store something after this call, and must drop that itself when it ends.
   * @param uid - of the object
   */
  onDeleted?(key: Key, uid: string): void;
  reconcile: Reconcile;
}

/** @typeParam T - the owner @typeParam O - the owned */
export interface Owns<T extends KubeObject, O extends KubeObject> {
  of: Informer<O>;
  /** Owners that may adopt an orphan that is new, lost its controller, changed its labels, or was deleted. @default none */
  matching?(orphan: Readonly<O>, owners: Lister<T>): Iterable<Key>;
  /** Notified before the owner is enqueued. */
  expectations?: Observer;
}

/** The part of expectations that receives cache changes. */
export interface Observer {
  /** Not called for an object that was adopted, or that is already terminating. */
  creationSeen(key: Key, uid: string): void;
  /** The object is terminating, deleted or released. May be called several times for one object. */
  deletionSeen(key: Key, uid: string): void;
}

export interface Reads<T extends KubeObject, O extends KubeObject> {
  of: Informer<O>;
  /** Keys that a change enqueues; not called for resyncs. @default none: the controller waits for the cache, and its changes enqueue nothing */
  mapFunc?(change: Change<O>, primaries: Lister<T>): Iterable<EnqueueRequest>;
}

/** A key to enqueue: now, after some ms, or rate-limited as after a failure (for changes that may repeat in a tight loop). */
export type EnqueueRequest = Key | { key: Key; after: Millis } | { key: Key; limited: true };

/**
 * The result of a reconcile. An error that it throws is a failure: the key is requeued with backoff.
 *
 * - `done`: the cluster is in the desired state, as far as the cache shows. The next event enqueues the key again.
 * - `requeueAfter`: there is something to do later that no event announces. In ms; 0 or less means at once, after all other keys.
 * - `stalled`: it cannot continue, and retrying would not help; an event enqueues the key when it can.
 * - `failed`: like a thrown error, but the key is requeued after `requeueAfter` at the latest, or a second where that is less: a permanent failure must not
 * delay work that is due at a time, and the backoff of a key grows to a quarter of an hour.
 */
export type Outcome =
  | { done: true }
  | { requeueAfter: Millis; why: string }
  | { stalled: true; why: string }
  | { failed: unknown; requeueAfter: Millis; why: string };

export const done: Outcome = { done: true };

/** The result of a reconcile in which something failed. @param otherwise - the result without the failure @throws the error, unless `otherwise` requeues the key */
export function failedWith(error: unknown, otherwise: Outcome): Outcome {
  if ('requeueAfter' in otherwise) return { failed: error, requeueAfter: otherwise.requeueAfter, why: otherwise.why };
  throw error;
}

import type { Millis } from '../../base/clock.ts';
import type { KubeObject } from '../api/object.ts';
import type { Change } from '../cache/change.ts';
import type { Informer, Key, Lister } from '../cache/contract.ts';
import type { Reconcile } from './workers.ts';

/**
 * A controller as data: whose keys it reconciles, and which changes of which other objects bring a key back. It is level-triggered: a change
 * carries nothing but the key, and reconcile looks at the caches afresh.
 *
 * Its functions are called in the turn in which a cache changed. They compute; they neither wait nor change what they are given.
 */
export interface Controller<T extends KubeObject> {
  /** For logs, metrics and the queue: `daemonset`. */
  name: string;
  /** The objects it looks after. Each change and each resync enqueues the object's key; nothing is compared, since that is reconcile's to do. */
  primary: Informer<T>;
  /** Objects written by this controller alone, through controller references. */
  owns?: readonly Owns<T, KubeObject>[];
  /** Objects it looks at. */
  reads?: readonly Reads<T, KubeObject>[];
  /** The object is gone, or another one has taken its name. For what is remembered by key: expectations, own writes. Its key is enqueued next. */
  gone?(key: Key): void;
  reconcile: Reconcile;
}

/** @typeParam T - the owner @typeParam O - the owned */
export interface Owns<T extends KubeObject, O extends KubeObject> {
  of: Informer<O>;
  /** Owners that may want to adopt it: it has no controller, and is new, lost its controller, or changed its labels. @default nobody */
  matching?(orphan: Readonly<O>, owners: Lister<T>): Iterable<Key>;
  /** Told before the owner is enqueued. */
  expectations?: Observer;
  /** A change that the owner must look at once more later, when time alone has changed something: ms from now. The owner is enqueued now anyway. */
  again?(owner: Readonly<T>, before: Readonly<O>, after: Readonly<O>): Millis | undefined;
}

/** The side of expectations that watches. */
export interface Observer {
  /** Not for an object that was adopted, or that is already being deleted. */
  creationSeen(key: Key, uid: string): void;
  /** It is being deleted, or gone. May come several times for one object. */
  deletionSeen(key: Key, uid: string): void;
}

export interface Reads<T extends KubeObject, O extends KubeObject> {
  of: Informer<O>;
  /** Keys that a change concerns; resyncs are no changes. @default none: the cache is waited for, and its changes enqueue nothing */
  mapFunc?(change: Change<O>, primaries: Lister<T>): Iterable<EnqueueRequest>;
}

/** A key to enqueue: now, in some ms, or as if it had failed once more (for what may repeat in a tight circle). */
export type EnqueueRequest = Key | { key: Key; after: Millis } | { key: Key; limited: true };

/**
 * The result of a reconcile. An error that it throws is a failure: the key is requeued with backoff.
 *
 * - `done`: the cluster is in the desired state, as far as the cache shows. The next event enqueues the key again.
 * - `requeueAfter`: there is something to do later that no event announces. In ms; 0 or less means at once, after all other keys.
 * - `stalled`: it cannot continue, and retrying would not help; an event enqueues the key when it can.
 * - `failed`: as if it had been thrown, but the key is requeued after `requeueAfter` at the latest, or a second where that is less: what fails for good must
 *   not put off what waits for a time, for a key that failed often waits for a quarter of an hour.
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

import type { Millis } from '../../base/clock.ts';
import type { ClusterEvent } from '../cluster-event.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** A pod that wants a place, and how often it was tried. */
export interface QueuedPod {
  /** The newest that is known of it. */
  readonly info: PodInfo;
  /** Attempts so far, the one under way included. */
  readonly attempts: number;
  /** When it first came, in ms of the wall clock. */
  readonly since: Millis;
  /** When it was queued last: among equals the oldest goes first, but that one who is refused like others again keeps its place among them. */
  readonly queuedAt: Millis;
  /** Refusals since it came: what backoff counts, unless it is errors. */
  readonly refusals: number;
  /** Errors in a row: a refusal ends it. */
  readonly errors: number;
  /** Who refused it last. Empty: it was not tried yet, or failed with an error. */
  readonly rejectedBy: ReadonlySet<Rejector>;
  /** What {@link Failure} said of it then. */
  readonly short: ReadonlySet<string> | undefined;
}

/**
 * How an attempt ended without a place. Refused by nobody in particular counts as an error.
 * `short`: what NodeResourcesFit found too little of on some node (`pods`, `cpu`, `example.com/gpu`): pods that go without leaving any of it are then no
 * reason to try again. Undefined: not known, every pod that goes is.
 * `equivalenceClass`: pods of one class would be rejected for the same reasons in each other's stead, at any time. So when something happens
 * that may help them one is tried for all, the first in line that does not back off; the next one follows when that one found a place, or was refused in
 * another way. Undefined: nobody can be tried in its stead.
 */
export type Failure =
  { why: 'refused'; by: ReadonlySet<Rejector>; short?: ReadonlySet<string>; equivalenceClass?: string | undefined } | { why: 'error' };

export type PoolName = 'active' | 'backoff' | 'unschedulable' | 'gated';

/** Where a pod is. */
export interface Found {
  readonly pool: PoolName | 'in-flight';
  readonly queued: QueuedPod;
  /** Not before, in ms of the wall clock. Undefined: it has not failed, or is being tried. */
  readonly backoffUntil: Millis | undefined;
  /** Waits for {@link SchedulingQueue.release}, or will after the attempt under way. */
  readonly held: boolean;
}

/** Whether what happened can help a pod that this one refused. @param short - as in {@link Failure} */
export type Hint = (pod: PodInfo, event: ClusterEvent, short: ReadonlySet<string> | undefined) => boolean;

/** Pods without a place. Everything is synchronous; time passes through `tick`. */
export interface SchedulingQueue {
  /** A pod that is new, or known: then like {@link update}. Who had its name before, with another uid, is gone. */
  add(info: PodInfo): void;
  update(before: PodInfo, after: PodInfo): void;
  /** @returns whether it was there, in flight or not */
  delete(info: PodInfo): boolean;
  /** The next to try, from then on in flight until {@link done} or {@link requeue}. */
  pop(): QueuedPod | undefined;
  /** It has a place, and is yet to be bound to it: events are of no concern to it any more. It is in flight still. */
  assumed(uid: string): void;
  /** The attempt ended with a place, or the pod is of no concern any more. */
  done(uid: string): void;
  /**
   * The attempt ended without one. What happened since `pop` counts, also to the pod itself. Nothing, for a pod that is not in flight: it was deleted meanwhile.
   * @param info - the newest that is known of the pod
   */
  requeue(queued: QueuedPod, failure: Failure, info: PodInfo): void;
  /** Something happened: who it may help is tried again, or one for all of an equivalence class. @param only - none but these. @default all */
  enqueueOn(event: ClusterEvent, only?: (info: PodInfo) => boolean): void;
  /** Has this pod tried again at once, whatever refused it, once its backoff is over. */
  activate(uid: string): void;
  /**
   * Held back while room is being made for it, whatever happens meanwhile; {@link release} ends that and tries it. Of a pod in flight it holds for what
   * comes after the attempt. It counts as unschedulable.
   */
  hold(uid: string): void;
  release(uid: string): void;
  /** Whether this pod is prioritized (goes first among those of its priority) has changed. Nobody is tried in its stead any more. */
  reorder(uid: string): void;
  /** Moves whoever's time has come. @returns when to call again, in ms of the wall clock; undefined: nobody waits for time */
  tick(): Millis | undefined;
  readonly sizes: Readonly<Record<PoolName, number>>;
  readonly inFlight: number;
  /** Where a pod is, for those who look into the process. */
  find(uid: string): Found | undefined;
  /** All pods, in the order in which they came. Nothing may change meanwhile. */
  list(): Iterable<Found>;
}

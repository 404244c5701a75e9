import type { Millis } from '../../base/clock.ts';
import type { ClusterEvent } from '../types.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { retryConditionsOf } from './hints.ts';

/** A pending pod, and how often it was attempted (QueuedPodInfo of kube-scheduler). */
export interface QueuedPod {
  /** The pod as the cache showed it last. */
  readonly info: PodInfo;
  /** Scheduling attempts so far, one in flight included. */
  readonly attempts: number;
  /** When it was added first, in ms of the queue's clock. */
  readonly since: Millis;
  /** When it was queued last: among equals the oldest goes first. A pod that is rejected again like the others of its class keeps its place among them. */
  readonly queuedAt: Millis;
  /** Rejections since it was added: backoff counts them, except after errors. */
  readonly refusals: number;
  /** Errors in a row; a rejection resets it. */
  readonly errors: number;
  /** Plugins that rejected it last. Empty: it was not attempted yet, or failed with an error. */
  readonly rejectedBy: ReadonlySet<Rejector>;
  /** `short` of its last {@link Failure}. */
  readonly short: ReadonlySet<string> | undefined;
}

/**
 * How an attempt failed. Without a rejecting plugin it counts as an error.
 * `short`: resources of which NodeResourcesFit found too little on some node (`pods`, `cpu`, `example.com/gpu`): deletions of pods that free none of them do
 * not requeue the pod. Undefined: unknown, every deletion does.
 * `equivalenceClass`: each pod of a class would be rejected for the same reasons as any other, at any time. When an event may help them, one represents all:
 * the first in order that does not back off. The next one follows when that one was scheduled, or rejected for other reasons. Undefined: no other pod can
 * represent it.
 */
export type Failure =
  { why: 'refused'; by: ReadonlySet<Rejector>; short?: ReadonlySet<string>; equivalenceClass?: string | undefined } | { why: 'error' };

export type PoolName = 'active' | 'backoff' | 'unschedulable' | 'gated';

/** The pool that a pod is in. */
export interface Found {
  readonly pool: PoolName | 'in-flight';
  readonly queued: QueuedPod;
  /** End of its backoff, in ms of the queue's clock. Undefined: it has not failed, or is in flight. */
  readonly backoffUntil: Millis | undefined;
  /** Waits for {@link SchedulingQueue.release}, or will after the attempt in flight. */
  readonly held: boolean;
}

/** Whether the event may help a pod that this plugin rejected. @param short - as in {@link Failure} */
export type Hint = (pod: PodInfo, event: ClusterEvent, short: ReadonlySet<string> | undefined) => boolean;

/** Pending pods. Everything is synchronous; time passes through `tick`. */
export interface SchedulingQueue {
  /** Adds a new pod, or updates a known one. A pod of the same name with another UID is dropped. */
  add(info: PodInfo): void;
  /** @returns whether it was queued or in flight */
  delete(info: PodInfo): boolean;
  /** The next pod to attempt, from then on in flight until {@link done} or {@link requeue}. */
  pop(): QueuedPod | undefined;
  /** It was assumed on a node and is not bound yet: events no longer requeue it. It is still in flight. */
  assumed(uid: string): void;
  /** The pod was bound, or need not be scheduled any more. */
  done(uid: string): void;
  /**
   * The attempt failed. Events since `pop` count, changes of the pod itself included. Does nothing for a pod that is not in flight: it was deleted meanwhile.
   * @param info - the pod as the cache showed it last
   */
  requeue(queued: QueuedPod, failure: Failure, info: PodInfo): void;
  /** Requeues the pods that the event may help; one pod represents its equivalence class. @param only - selects the pods to consider. @default all */
  enqueueOn(event: ClusterEvent, only?: (info: PodInfo) => boolean): void;
  /** Requeues this pod whatever rejected it, to be attempted once its backoff is over. */
  activate(uid: string): void;
  /**
   * Holds the pod back while its victims are being deleted; {@link release} ends that, and requeues it if an event that may help came meanwhile. A pod in
   * flight is held after its attempt. It counts as unschedulable.
   */
  hold(uid: string): void;
  release(uid: string): void;
  /** Whether this pod is prioritized (goes first among those of its priority) has changed. No other pod represents it any more. */
  reorder(uid: string): void;
  /** Moves pods whose backoff or waiting time is over. @returns when to call again, in ms of the queue's clock; undefined: no pod waits for time */
  tick(): Millis | undefined;
  readonly sizes: Readonly<Record<PoolName, number>>;
  readonly inFlight: number;
  /** The pool of a pod, for /debug. */
  find(uid: string): Found | undefined;
  /** All pods, in the order in which they were added. The queue must not change during the iteration. */
  list(): Iterable<Found>;
}

/** A pending pod, as JSON. Times are ISO 8601. */
export interface Pending {
  namespace: string;
  name: string;
  uid: string;
  priority: number;
  pool: PoolName | 'in-flight';
  /** Its victims are being deleted. */
  held: boolean;
  attempts: number;
  refusals: number;
  errors: number;
  since: string;
  queuedAt: string;
  /** End of its backoff. */
  backoffUntil: string | null;
  /** Requeued then at the latest. */
  flushAt: string | null;
  rejectedBy: Rejector[];
  /** Resources that were short, if known. */
  short: string[];
  /** What requeues it, as text for people. */
  wakesOn: string[];
}

export interface PendingDump {
  pools: Readonly<Record<PoolName, number>>;
  inFlight: number;
  pods: Pending[];
}

/** @param flushMs - time since the last attempt after which a rejected pod is requeued anyway. @param shown - converts a time of the queue to the wall clock */
function pendingOf({ pool, queued, backoffUntil, held }: Found, flushMs: Millis, shown = asItIs): Pending {
  const { info, attempts, refusals, errors, since, queuedAt, rejectedBy, short } = queued;
  const rejectors = [...rejectedBy].toSorted();
  const iso = (at: Millis): string => new Date(shown(at)).toISOString();
  return {
    namespace: info.namespace,
    name: info.name,
    uid: info.uid,
    priority: info.priority,
    pool,
    held,
    attempts,
    refusals,
    errors,
    since: iso(since),
    queuedAt: iso(queuedAt),
    backoffUntil: backoffUntil === undefined ? null : iso(backoffUntil),
    flushAt: pool === 'unschedulable' && !held ? iso(queuedAt + flushMs) : null,
    rejectedBy: rejectors,
    short: [...(short ?? [])].toSorted(),
    wakesOn: retryConditionsIn(pool, held, rejectors),
  };
}

/** The whole queue. @param shown - as in {@link pendingOf}. @param most - maximum number of pods listed; all are counted */
export function dumpQueue(
  queue: Pick<SchedulingQueue, 'sizes' | 'inFlight' | 'list'>,
  flushMs: Millis,
  shown = asItIs,
  most = 1_000,
): PendingDump {
  const pods: Pending[] = [];
  for (const found of queue.list()) {
    if (pods.length >= most) break;
    pods.push(pendingOf(found, flushMs, shown));
  }
  return { pools: queue.sizes, inFlight: queue.inFlight, pods };
}

function retryConditionsIn(pool: Found['pool'], held: boolean, rejectors: readonly Rejector[]): string[] {
  if (pool === 'gated') return retryConditionsOf(['SchedulingGates']);
  if (held) return ['the preempted pods are deleted'];
  return pool === 'unschedulable' ? retryConditionsOf(rejectors) : [];
}

function asItIs(at: Millis): Millis {
  return at;
}

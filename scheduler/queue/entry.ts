import type { Millis } from '../../base/clock.ts';
import type { IndexedHeap } from '../../base/ordered.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from './contract.ts';
import type { ClusterEvent } from '../types.ts';

/**
 * The pool that a pod is in.
 *
 * - (unknown) --add--> active, or gated        gated --own gates gone--> active
 * - active, backoff --pop--> in-flight         backoff --time--> active; also at once when no other pod is active, unless it failed with an error
 * - in-flight --requeue--> unschedulable; backoff, if it failed with an error or an event that may help came meanwhile
 * - unschedulable --event, own change, flush--> backoff, or active when its backoff is over
 * - unschedulable, in an equivalence class --event, as the first of the class--> the same, and it represents the class until it is rejected
 *   like the others again (the class waits), or scheduled, deleted or rejected otherwise (the next one represents)
 * - any but gated --hold--> held (in-flight: with its requeue)
 * - held --release--> unschedulable; backoff or active, if an event that may help came meanwhile
 */
export type Place = 'active' | 'backoff' | 'unschedulable' | 'held' | 'gated' | 'in-flight';

/** Unschedulable pods that were rejected for the same reasons: one of them, the representative, is attempted for all. */
export interface EquivalenceClass {
  readonly key: string;
  /** How the last one attempted was rejected, and so all of them. */
  rejection: LastRejection;
  /** In the order in which they are attempted. */
  readonly ready: IndexedHeap<string, Entry>;
  /** Members whose backoff was not over at the last event, by its end. */
  readonly resting: IndexedHeap<string, Entry>;
  /** The representative that was chosen last and is not attempted yet; not among the members. */
  representative: Entry | undefined;
}

/** The plugins that rejected a pod, and the resources that were short. */
export interface LastRejection {
  readonly rejectedBy: ReadonlySet<Rejector>;
  readonly short: ReadonlySet<string> | undefined;
}

/** What the queue knows of a pod. */
export interface Entry {
  readonly uid: string;
  info: PodInfo;
  place: Place;
  attempts: number;
  readonly since: Millis;
  queuedAt: Millis;
  /** The order in which pods were queued; clocks jump and stand still. */
  turn: number;
  refusals: number;
  errors: number;
  rejectedBy: ReadonlySet<Rejector>;
  short: ReadonlySet<string> | undefined;
  /** Key of its equivalence class, from its last {@link Failure}. */
  equivalenceClass: string | undefined;
  /** The class that it represents. A class may have several representatives: when the first backs off, another one does not wait for that. */
  represents: EquivalenceClass | undefined;
  /** End of its backoff; undefined without one. */
  backoffUntil: Millis | undefined;
  /** Goes first among those of its priority. */
  prioritized: boolean;
  /** It is held once its attempt has ended. */
  held: boolean;
  /** In flight: the moment of its `pop`. Undefined: events do not requeue it. */
  flight: Moment | undefined;
  /** In flight: plugins whose rejection is void, because the pod itself changed since; `all`, also when held: it is to be tried again whatever rejected it. */
  invalidated: Set<Rejector> | 'all' | undefined;
}

export const noRejectors: ReadonlySet<Rejector> = new Set();

export function newEntry(info: PodInfo, now: Millis): Entry {
  return {
    uid: info.uid,
    info,
    place: 'active',
    attempts: 0,
    since: now,
    queuedAt: now,
    turn: 0,
    refusals: 0,
    errors: 0,
    rejectedBy: noRejectors,
    short: undefined,
    equivalenceClass: undefined,
    represents: undefined,
    backoffUntil: undefined,
    prioritized: false,
    held: false,
    flight: undefined,
    invalidated: undefined,
  };
}

/** A copy, which does not change when the entry does. */
export function queuedPodOf({ info, attempts, since, queuedAt, refusals, errors, rejectedBy, short }: Entry): QueuedPod {
  return { info, attempts, since, queuedAt, refusals, errors, rejectedBy, short };
}

/** The order in which pods are attempted. */
export function byTurn(a: Entry, b: Entry): number {
  return b.info.priority - a.info.priority || Number(b.prioritized) - Number(a.prioritized) || a.turn - b.turn;
}

export function byBackoff(a: Entry, b: Entry): number {
  return (a.backoffUntil ?? 0) - (b.backoffUntil ?? 0) || byTurn(a, b);
}

/** When it was queued. */
export function byAge(a: Entry, b: Entry): number {
  return a.queuedAt - b.queuedAt || a.turn - b.turn;
}

/** An event, and the pods that it was for. */
export interface LoggedEvent {
  readonly event: ClusterEvent;
  /** Undefined: all. */
  readonly only: ((info: PodInfo) => boolean) | undefined;
}

/** A moment between two events. A reference to it keeps later events in memory, and no earlier ones. */
export interface Moment {
  next: (Moment & { readonly logged: LoggedEvent }) | undefined;
}

/**
 * Events while pods were in flight: one linked list for all of them, of which each pod holds the link of its `pop`. Links before the oldest pod in flight are
 * referenced by no one and are garbage, so that nothing has to be removed.
 */
export class EventLog {
  #last: Moment = { next: undefined };

  get now(): Moment {
    return this.#last;
  }

  add(logged: LoggedEvent): void {
    const link = { logged, next: undefined };
    this.#last.next = link;
    this.#last = link;
  }

  /** No pod is in flight: drops the last event too. */
  forget(): void {
    this.#last = { next: undefined };
  }
}

/** Events after a moment, oldest first. */
export function* eventsSince(moment: Moment): Generator<LoggedEvent> {
  for (let link = moment.next; link !== undefined; link = link.next) yield link.logged;
}

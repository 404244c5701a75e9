import type { Millis } from '../../base/clock.ts';
import type { IndexedHeap } from '../../base/heap.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from './contract.ts';
import type { ClusterEvent } from '../cluster-event.ts';

/**
 * Where a pod is.
 *
 * - (unknown) --add--> active, or gated        gated --own gates gone--> active
 * - active, backoff --pop--> in-flight         backoff --time--> active; also at once when nothing else is there, unless it failed with an error
 * - in-flight --requeue--> unschedulable; backoff, if it failed with an error or something that helps happened meanwhile
 * - unschedulable --woken, own change, flush--> backoff, or active when its backoff is over
 * - unschedulable, in an equivalence class --woken first for all, next of the class--> as when woken, and it represents the class; it does so until it is rejected
 *   like the others again (the class waits), or anything else becomes of it (the next one represents)
 * - any but gated --hold--> held (in-flight: with its requeue)     held --release--> backoff or active
 */
export type Place = 'active' | 'backoff' | 'unschedulable' | 'held' | 'gated' | 'in-flight';

/** Pods that wait and were rejected for the same reasons: one of them, the representative, is tried for all. */
export interface EquivalenceClass {
  readonly key: string;
  /** How the one was refused that was tried last, and so all of them. */
  rejection: LastRejection;
  /** In the order in which they are tried. */
  readonly ready: IndexedHeap<string, Entry>;
  /** Those that backed off when they were looked at last, by when that ends. */
  readonly resting: IndexedHeap<string, Entry>;
  /** The pod that was chosen last to be tried for all, while that is still to come; not among the members. */
  representative: Entry | undefined;
}

/** Who refused a pod, and what was short. */
export interface LastRejection {
  readonly rejectedBy: ReadonlySet<Rejector>;
  readonly short: ReadonlySet<string> | undefined;
}

/** All that the queue knows of a pod. */
export interface Entry {
  readonly uid: string;
  info: PodInfo;
  place: Place;
  attempts: number;
  readonly since: Millis;
  queuedAt: Millis;
  /** In which order pods were queued. Clocks jump and stand still; this does not. */
  turn: number;
  refusals: number;
  errors: number;
  rejectedBy: ReadonlySet<Rejector>;
  short: ReadonlySet<string> | undefined;
  /** Key of its equivalence class, as {@link Failure} said last. */
  equivalenceClass: string | undefined;
  /** The class that it is tried for, or to be tried. A class may have several: when the first backs off, another one need not wait for that. */
  represents: EquivalenceClass | undefined;
  /** Undefined: it does not back off. */
  backoffUntil: Millis | undefined;
  /** Goes first among those of its priority. */
  prioritized: boolean;
  /** To be held once it is not in flight any more. */
  held: boolean;
  /** In flight: when it set out. Undefined: what happens is of no concern to it. */
  flight: Moment | undefined;
  /** In flight: whose rejection is void since, because of what changed in the pod itself; `all`: it was asked for. */
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

/** As others see it: it does not change when the entry does. */
export function queuedPodOf({ info, attempts, since, queuedAt, refusals, errors, rejectedBy, short }: Entry): QueuedPod {
  return { info, attempts, since, queuedAt, refusals, errors, rejectedBy, short };
}

/** Who is tried first. */
export function byTurn(a: Entry, b: Entry): number {
  return b.info.priority - a.info.priority || Number(b.prioritized) - Number(a.prioritized) || a.turn - b.turn;
}

export function byBackoff(a: Entry, b: Entry): number {
  return (a.backoffUntil ?? 0) - (b.backoffUntil ?? 0) || byTurn(a, b);
}

/** Since when it waits. */
export function byAge(a: Entry, b: Entry): number {
  return a.queuedAt - b.queuedAt || a.turn - b.turn;
}

/** Something that happened, and whom it was told to. */
export interface LoggedEvent {
  readonly event: ClusterEvent;
  /** Undefined: all. */
  readonly only: ((info: PodInfo) => boolean) | undefined;
}

/** A moment between two happenings. Holding it keeps what came after it in memory, and nothing before. */
export interface Moment {
  next: (Moment & { readonly logged: LoggedEvent }) | undefined;
}

/**
 * What happened while pods were in flight: one chain for all of them, of which each holds the link at which it set out. What nobody in flight can
 * ask for any more is garbage by itself, so nothing has to be cut off.
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

  /** Nobody asks for anything any more: also the last logged is let go. */
  forget(): void {
    this.#last = { next: undefined };
  }
}

/** What happened after a moment, oldest first. */
export function* eventsSince(moment: Moment): Generator<LoggedEvent> {
  for (let link = moment.next; link !== undefined; link = link.next) yield link.logged;
}

import { IndexedHeap } from '../../base/ordered.ts';
import type { Millis } from '../../base/clock.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { byAge, byBackoff, byTurn, type LoggedEvent, type Entry, type EquivalenceClass, type LastRejection } from './entry.ts';
import type { Hint } from './contract.ts';
import type { Hints } from './hints.ts';

/** Pods for which all hints return the same: an event is evaluated once for all of them. */
interface Group {
  readonly key: string;
  readonly rejection: LastRejection;
  readonly members: Map<string, Entry>;
}

/** Pods that were rejected and wait for a cluster event: each for itself, or together with others of its equivalence class. */
export class Unschedulable {
  readonly #classOf: (info: PodInfo) => string;
  readonly #hints: Hints;
  readonly #byAge = new IndexedHeap<string, Entry>(byAge);
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();
  /** None is without members. */
  readonly #classes = new Map<string, EquivalenceClass>();

  constructor(classOf: (info: PodInfo) => string, hints: Hints) {
    this.#classOf = classOf;
    this.#hints = hints;
  }

  get size(): number {
    return this.#byAge.size;
  }

  /** The pod whose last attempt is the oldest. */
  get oldest(): Entry | undefined {
    return this.#byAge.peek()?.value;
  }

  /** Adds a pod that was rejected just now, or that no longer has a class. */
  add(entry: Entry): void {
    this.#byAge.set(entry.uid, entry);
    if (entry.equivalenceClass === undefined) this.#join(entry);
    else this.#joinClass(entry, entry.equivalenceClass, true);
  }

  /** Puts a pod back into its class that was taken out and not attempted. */
  giveBack(entry: Entry): void {
    this.#byAge.set(entry.uid, entry);
    this.#joinClass(entry, entry.equivalenceClass ?? '', false);
  }

  /** Takes the pod out; its entry then holds what it was rejected for. */
  delete(entry: Entry): void {
    const { uid } = entry;
    if (!this.#byAge.delete(uid)) return;
    const group = this.#groupOf.get(uid);
    if (group !== undefined) {
      group.members.delete(uid);
      if (group.members.size === 0) this.#groups.delete(group.key);
      this.#groupOf.delete(uid);
      return;
    }
    const alike = this.#equivalentTo(entry);
    if (alike === undefined) return;
    entry.rejectedBy = alike.rejection.rejectedBy;
    entry.short = alike.rejection.short;
    alike.ready.delete(uid);
    alike.resting.delete(uid);
    if (alike.ready.size + alike.resting.size === 0) this.#classes.delete(alike.key);
  }

  /** The rejection that it would get now, as far as is known. */
  rejectionOf(entry: Entry): LastRejection {
    return this.#equivalentTo(entry)?.rejection ?? entry;
  }

  /** Takes out the pods that the event may help; of a class the one that can be attempted first, for all of them. */
  takeHelped(logged: LoggedEvent, now: Millis): Entry[] {
    const { only } = logged;
    const helped: Entry[] = [];
    for (const { members, rejection } of this.#groups.values()) {
      const [first] = members.values();
      if (first === undefined || !mayHelp(this.#hints, first.info, rejection, logged)) continue;
      for (const entry of members.values()) if (only === undefined || only(entry.info)) helped.push(entry);
    }
    for (const entry of helped) this.delete(entry);
    for (const alike of this.#classes.values()) {
      const next = nextIn(alike, now, only);
      if (next === undefined || !mayHelp(this.#hints, next.info, alike.rejection, logged)) continue;
      this.represent(alike, next);
      helped.push(next);
    }
    return helped;
  }

  /** Takes out the next representative of the class, unless it has one that need not wait longer. */
  takeNext(alike: EquivalenceClass, now: Millis): Entry | undefined {
    const next = nextIn(alike, now);
    if (next !== undefined) this.represent(alike, next);
    return next;
  }

  /** Takes the pod out, to represent the class. */
  represent(alike: EquivalenceClass, entry: Entry): void {
    this.delete(entry);
    alike.representative = entry;
    entry.represents = alike;
  }

  #join(entry: Entry): void {
    const key = this.#groupKey(entry);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { key, rejection: { rejectedBy: entry.rejectedBy, short: entry.short }, members: new Map() };
      this.#groups.set(key, group);
    }
    group.members.set(entry.uid, entry);
    this.#groupOf.set(entry.uid, group);
  }

  /** @param isFresh - it was rejected just now: all pods of its class would have been rejected as it was */
  #joinClass(entry: Entry, key: string, isFresh: boolean): void {
    const { rejectedBy, short } = entry;
    const rejection = { rejectedBy, short };
    let alike = this.#classes.get(key);
    if (alike === undefined) this.#classes.set(key, (alike = newClass(key, rejection)));
    if (isFresh) alike.rejection = rejection;
    alike.resting.set(entry.uid, entry);
  }

  #equivalentTo({ uid, equivalenceClass }: Entry): EquivalenceClass | undefined {
    const alike = equivalenceClass === undefined ? undefined : this.#classes.get(equivalenceClass);
    return alike !== undefined && (alike.ready.has(uid) || alike.resting.has(uid)) ? alike : undefined;
  }

  /** Includes the labels if InterPodAffinity rejected the pod: the terms of future pods may match any label. */
  #groupKey({ info, rejectedBy, short }: Entry): string {
    const labels = rejectedBy.has('InterPodAffinity') ? JSON.stringify(info.labels, Object.keys(info.labels).toSorted()) : '';
    return [sorted(rejectedBy), short === undefined ? '?' : sorted(short), labels, this.#classOf(info)].join('\n');
  }
}

function newClass(key: string, rejection: LastRejection): EquivalenceClass {
  return { key, rejection, ready: new IndexedHeap(byTurn), resting: new IndexedHeap(byBackoff), representative: undefined };
}

/** The next representative: the first pod without backoff, else the one whose backoff ends first. Undefined: the present one need not wait longer. */
function nextIn(alike: EquivalenceClass, now: Millis, only?: LoggedEvent['only']): Entry | undefined {
  const { ready, resting, representative } = alike;
  firstReady(alike, now);
  if (representative !== undefined && representative.place !== 'backoff') return undefined;
  const next = firstIn(ready, byTurn, only) ?? firstIn(resting, byBackoff, only);
  const at = (entry: Entry): Millis => Math.max(now, entry.backoffUntil ?? now);
  return next === undefined || (representative !== undefined && at(representative) <= at(next)) ? undefined : next;
}

/** The first pod in order whose backoff is over. */
export function firstReady({ ready, resting }: EquivalenceClass, now: Millis): Entry | undefined {
  for (let due = resting.peek(); due !== undefined && (due.value.backoffUntil ?? 0) <= now; due = resting.peek()) {
    resting.delete(due.key);
    ready.set(due.key, due.value);
  }
  return ready.peek()?.value;
}

/** @param order - the heap's own */
function firstIn(heap: EquivalenceClass['ready'], order: typeof byTurn, only: LoggedEvent['only']): Entry | undefined {
  const first = heap.peek()?.value;
  if (first === undefined || only === undefined || only(first.info)) return first;
  const meant = [...heap.entries()].flatMap(({ value }) => (only(value.info) ? [value] : []));
  return meant.toSorted(order)[0];
}

/** Whether a plugin that rejected the pod returns that the event may help. A plugin without a hint always does. */
export function mayHelp(hints: Hints, info: PodInfo, { rejectedBy, short }: LastRejection, { event }: LoggedEvent): boolean {
  for (const rejector of rejectedBy) {
    const hint = hints.get(rejector);
    if (hint === undefined || helps(hint, info, event, short)) return true;
  }
  return false;
}

/** A pod or an event that a hint cannot read must not keep other pods from being requeued. */
function helps(hint: Hint, ...[info, event, short]: Parameters<Hint>): boolean {
  try {
    return hint(info, event, short);
  } catch {
    return true;
  }
}

function sorted(names: ReadonlySet<string>): string {
  return [...names].toSorted().join();
}

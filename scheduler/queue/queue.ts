import { backoff } from '../../base/waiting.ts';
import type { Millis } from '../../base/clock.ts';
import type { ClusterEvent } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Failure, Found, PoolName, QueuedPod, SchedulingQueue } from './contract.ts';
import { byTurn, newEntry, noRejectors, queuedPodOf, eventsSince, type Entry, type EquivalenceClass } from './entry.ts';
import { Pools } from './pools.ts';
import { hasSameRequirements, isGated, meet, invalidatedBy } from './equivalence-class.ts';
import { firstReady, mayHelp, Unschedulable } from './unschedulable.ts';
import type { Hints } from './hints.ts';

const zero = () => 0;

export function createQueue(options: QueueOptions): SchedulingQueue {
  return new PodQueue(options);
}

class PodQueue implements SchedulingQueue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  /** UID by pod key: a pod that was created again has another UID. */
  readonly #uids = new Map<string, string>();
  readonly #unschedulable: Unschedulable;
  readonly #pools: Pools;
  #turns = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#unschedulable = new Unschedulable((info) => options.classOf?.(info) ?? info.uid, options.hints);
    this.#pools = new Pools(this.#unschedulable, (info) => options.prioritized(info));
  }

  get sizes(): Readonly<Record<PoolName, number>> {
    return this.#pools.sizes;
  }

  get inFlight(): number {
    return this.#pools.inFlight;
  }

  add(info: PodInfo): void {
    const known = this.#entries.get(info.uid);
    if (known !== undefined) {
      this.#change(known, info);
      return;
    }
    this.#forgetSameName(info);
    const entry = newEntry(info, this.#options.now());
    entry.turn = this.#turns++;
    this.#entries.set(info.uid, entry);
    this.#uids.set(info.key, info.uid);
    this.#pools.put(entry, isGated(info) ? 'gated' : 'active');
  }

  delete({ uid }: PodInfo): boolean {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return false;
    this.#drop(entry);
    return true;
  }

  pop(): QueuedPod | undefined {
    const next = this.#pools.next;
    if (next === undefined) return undefined;
    const entry = this.#firstOfClass(next);
    this.#pools.take(entry);
    entry.attempts++;
    entry.rejectedBy = noRejectors;
    entry.short = undefined;
    entry.backoffUntil = undefined;
    entry.invalidated = undefined;
    this.#pools.put(entry, 'in-flight');
    return queuedPodOf(entry);
  }

  assumed(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry?.place !== 'in-flight') return;
    this.#pools.stopListening(entry);
    this.#nextRepresentative(entry);
  }

  done(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry?.place === 'in-flight') this.#drop(entry);
  }

  requeue({ info: { uid } }: QueuedPod, failure: Failure, info: PodInfo): void {
    const entry = this.#entries.get(uid);
    if (entry?.place !== 'in-flight') return;
    if (info.uid !== uid) {
      this.#drop(entry);
      return;
    }
    const requeue = this.#settle(entry, failure, info);
    this.#pools.take(entry);
    entry.info = info;
    entry.queuedAt = this.#options.now();
    // A held pod waits for its own node: no other pod can represent it.
    const equivalenceClass = failure.why === 'refused' && !entry.held ? failure.equivalenceClass : undefined;
    // The others of its class were not attempted: the pod keeps its place among them.
    if (equivalenceClass === undefined || equivalenceClass !== entry.equivalenceClass) entry.turn = this.#turns++;
    entry.equivalenceClass = equivalenceClass;
    entry.backoffUntil = this.#backoffOf(entry);
    if (isGated(info)) this.#pools.put(entry, 'gated');
    else if (entry.held) this.#hold(entry, requeue);
    else if (requeue) this.#enqueue(entry);
    else this.#pools.put(entry, 'unschedulable');
    this.#settleClass(entry);
  }

  enqueueOn(event: ClusterEvent, only?: (info: PodInfo) => boolean): void {
    const logged = { event, only };
    this.#pools.log(logged);
    for (const entry of this.#pools.held)
      if (only?.(entry.info) !== false && mayHelp(this.#options.hints, entry.info, entry, logged)) entry.invalidated = 'all';
    for (const entry of this.#unschedulable.takeHelped(logged, this.#options.now())) this.#enqueue(entry);
  }

  activate(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry?.place === 'in-flight' || entry?.place === 'held') entry.invalidated = 'all';
    else if (entry?.place === 'unschedulable') this.#move(entry);
  }

  hold(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined || entry.place === 'gated') return;
    entry.held = true;
    if (entry.place === 'in-flight' || entry.place === 'held') return;
    const wasReady = entry.place !== 'unschedulable';
    this.#pools.take(entry);
    entry.equivalenceClass = undefined;
    this.#hold(entry, wasReady);
    this.#nextRepresentative(entry);
  }

  release(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined || !entry.held) return;
    entry.held = false;
    if (entry.place === 'in-flight') entry.invalidated = 'all';
    if (entry.place !== 'held') return;
    this.#pools.take(entry);
    if (entry.invalidated === 'all') this.#enqueue(entry);
    else this.#pools.put(entry, 'unschedulable');
  }

  reorder(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    if (entry.place === 'unschedulable' && entry.equivalenceClass !== undefined) this.#leaveClass(entry);
    this.#pools.sort(entry);
  }

  tick(): Millis | undefined {
    const now = this.#options.now();
    const { flushMs } = this.#options;
    for (let old = this.#unschedulable.oldest; old !== undefined && old.queuedAt + flushMs <= now; old = this.#unschedulable.oldest)
      this.#move(old);
    for (const heap of this.#pools.backoffs)
      for (let first = heap.peek(); first !== undefined && (first.value.backoffUntil ?? 0) <= now; first = heap.peek())
        this.#move(first.value);
    const times = this.#pools.backoffs.map((heap) => heap.peek()?.value.backoffUntil);
    const oldest = this.#unschedulable.oldest;
    if (oldest !== undefined) times.push(oldest.queuedAt + flushMs);
    const next = Math.min(...times.filter((time) => time !== undefined));
    return next === Infinity ? undefined : next;
  }

  find(uid: string): Found | undefined {
    const entry = this.#entries.get(uid);
    return entry && this.#found(entry);
  }

  *list(): Generator<Found> {
    for (const entry of this.#entries.values()) yield this.#found(entry);
  }

  /** Counts the failure. @returns whether to requeue the pod without waiting for an event */
  #settle(entry: Entry, failure: Failure, info: PodInfo): boolean {
    if (failure.why === 'error' || failure.by.size === 0) {
      entry.errors++;
      return true;
    }
    entry.refusals++;
    entry.errors = 0;
    entry.rejectedBy = failure.by;
    entry.short = failure.short;
    const { invalidated } = entry;
    if (
      invalidated === 'all' ||
      (invalidated !== undefined && meet(invalidated, failure.by)) ||
      meet(invalidatedBy(entry.info, info), failure.by)
    )
      return true;
    if (entry.flight === undefined) return true; // assumed in between: events were not logged for it
    for (const logged of eventsSince(entry.flight))
      if (logged.only?.(info) !== false && mayHelp(this.#options.hints, info, entry, logged)) return true;
    return false;
  }

  #backoffOf({ errors, refusals, queuedAt }: Entry): Millis | undefined {
    const failures = errors > 0 ? errors : refusals;
    if (failures === 0) return undefined;
    const { initialBackoffMs: base, maxBackoffMs: cap } = this.#options;
    return queuedAt + backoff(failures, { base, cap, jitter: 0 }, zero);
  }

  /** The pod itself changed. */
  #change(entry: Entry, info: PodInfo): void {
    const before = entry.info;
    if (before === info) return;
    const invalidated = invalidatedBy(before, info);
    const isAlike = hasSameRequirements(before, info);
    // Most updates of pending pods are status writes of this scheduler.
    if (entry.place === 'unschedulable' && entry.equivalenceClass !== undefined && isAlike) {
      entry.info = info;
      return;
    }
    // The pool is keyed by the old state: remove the pod first, then add it in its new state.
    if (entry.place === 'unschedulable') {
      this.#pools.take(entry);
      entry.equivalenceClass = undefined;
      entry.info = info;
      if (isGated(info)) this.#pools.put(entry, 'gated');
      else if (meet(invalidated, entry.rejectedBy)) this.#enqueue(entry);
      else this.#pools.put(entry, 'unschedulable');
      return;
    }
    entry.info = info;
    if (entry.place === 'in-flight') {
      if (entry.invalidated !== 'all') entry.invalidated = new Set([...(entry.invalidated ?? []), ...invalidated]);
    } else if (entry.place === 'gated' && !isGated(info)) {
      this.#move(entry);
    } else if (entry.place !== 'gated' && isGated(info)) {
      this.#pools.take(entry);
      this.#pools.put(entry, 'gated');
    } else if (entry.place === 'held') {
      if (meet(invalidated, entry.rejectedBy)) entry.invalidated = 'all';
    } else this.#pools.sort(entry);
    // The pod no longer represents its class. For a pod in flight, its rejection decides that.
    if (!isAlike && entry.place !== 'in-flight') this.#nextRepresentative(entry);
  }

  /** No other pod can represent this one any more. */
  #leaveClass(entry: Entry): void {
    this.#pools.take(entry);
    entry.equivalenceClass = undefined;
    this.#pools.put(entry, 'unschedulable');
  }

  /** The pod was attempted, perhaps for its class: the class waits again if the pod was rejected like the others and is not requeued. */
  #settleClass(entry: Entry): void {
    const { represents, place } = entry;
    if (represents === undefined) return;
    const isLike = represents.key === entry.equivalenceClass;
    if (isLike && place === 'unschedulable') this.#stopRepresenting(entry);
    // The pod is requeued, and so is its class: another member may have a shorter backoff.
    else if (isLike && (place === 'active' || place === 'backoff')) this.#requeueClass(represents);
    else this.#nextRepresentative(entry);
  }

  /** The pod no longer represents its class, whose next representative is requeued. */
  #nextRepresentative(entry: Entry): void {
    const { represents } = entry;
    if (represents === undefined) return;
    this.#stopRepresenting(entry);
    this.#requeueClass(represents);
  }

  /** The pod to attempt in place of this one: when it was chosen, members before it in order may have been in backoff, which may be over now. */
  #firstOfClass(entry: Entry): Entry {
    const first = entry.represents && firstReady(entry.represents, this.#options.now());
    if (first === undefined || entry.represents === undefined || byTurn(entry, first) <= 0) return entry;
    const group = entry.represents;
    this.#pools.take(entry);
    this.#stopRepresenting(entry);
    entry.place = 'unschedulable';
    this.#unschedulable.giveBack(entry);
    this.#unschedulable.represent(group, first);
    return first;
  }

  #stopRepresenting(entry: Entry): void {
    if (entry.represents?.representative === entry) entry.represents.representative = undefined;
    entry.represents = undefined;
  }

  #requeueClass(group: EquivalenceClass): void {
    const next = this.#unschedulable.takeNext(group, this.#options.now());
    if (next !== undefined) this.#enqueue(next);
  }

  /** Only one pod has a name at a time: an earlier pod of this name was deleted, even without a delete event. */
  #forgetSameName({ key }: PodInfo): void {
    const uid = this.#uids.get(key);
    const sameName = uid === undefined ? undefined : this.#entries.get(uid);
    if (sameName !== undefined) this.#drop(sameName);
  }

  #drop(entry: Entry): void {
    this.#pools.take(entry);
    this.#entries.delete(entry.uid);
    if (this.#uids.get(entry.info.key) === entry.uid) this.#uids.delete(entry.info.key);
    this.#nextRepresentative(entry);
  }

  /** @param requeue - whether {@link release} requeues the pod even if no event follows */
  #hold(entry: Entry, requeue: boolean): void {
    entry.invalidated = requeue ? 'all' : undefined;
    this.#pools.put(entry, 'held');
  }

  #move(entry: Entry): void {
    this.#pools.take(entry);
    this.#enqueue(entry);
  }

  #enqueue(entry: Entry): void {
    const waits = entry.backoffUntil !== undefined && entry.backoffUntil > this.#options.now();
    this.#pools.put(entry, waits ? 'backoff' : 'active');
  }

  #found(entry: Entry): Found {
    const { place, backoffUntil, held } = entry;
    const rejection = place === 'unschedulable' ? this.#unschedulable.rejectionOf(entry) : entry;
    const queued = { ...queuedPodOf(entry), rejectedBy: rejection.rejectedBy, short: rejection.short };
    return { pool: place === 'held' ? 'unschedulable' : place, queued, backoffUntil, held };
  }
}

export interface QueueOptions {
  /** The queue's clock, in ms: in the scheduler, setting the wall clock does not change it. */
  now: () => Millis;
  /** Backoff after the first failure; doubles with each failure. */
  initialBackoffMs: Millis;
  maxBackoffMs: Millis;
  /** Time since the last attempt after which a rejected pod is requeued even without an event. */
  flushMs: Millis;
  hints: Hints;
  /** Whether the pod goes before others of its priority. When this changes, call {@link SchedulingQueue.reorder}. */
  prioritized(info: PodInfo): boolean;
  /**
   * Every hint returns the same for pods with the same key: they have the same namespace, requests, ports, tolerations, node selector, affinity,
   * spread constraints (with the labels these take values from) and volumes. The queue compares their own labels itself. @default the pod's UID
   */
  classOf?(info: PodInfo): string;
}

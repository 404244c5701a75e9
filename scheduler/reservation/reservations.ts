import type { Millis } from '../../base/clock.ts';
import { jsonEqual } from '../../kube/api/json.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { ReservationConfig } from '../config/config.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';
import type { CapacityFacts, DeletionFacts, Dropped, Made, Reservation, Reservations, Seen } from './contract.ts';
import {
  atLeastASecond,
  type Ttls,
  whenClaimantDeleted,
  whenDeleted,
  whenFailed,
  whenRestored,
  whenSeen,
  whyNotOnNode,
  whySetMakesNone,
} from './lifetime.ts';
import { decide, type DecisionRules } from './decide.ts';
import { claimsOf, heldPodOf, heldPodOfSuccessor, isEased } from './capacity.ts';
import { isSuccessor, ReservationIndex, slotOf, slotsOf } from './reservation-index.ts';

const nobody: Seen = { reservation: undefined, eased: undefined, dropped: [] };
const noHeldPods: readonly PodInfo[] = [];

/** @param isOwnScheduler - whether this scheduler schedules pods with this scheduler name */
export function createReservations(config: Readonly<ReservationConfig>, isOwnScheduler: (schedulerName: string) => boolean): Reservations {
  return new InMemoryReservations({ ...config, isOwnScheduler }, atLeastASecond(config));
}

/**
 * The life of a record:
 *
 *   (none)  --podDeleted, adopt--> active      active, claimed --set, node, recheck, expire, podPlaced--> (none), returned as dropped
 *   active  --podSeen------------> claimed     claimed --podSeen by another uid--> claimed by that
 *   claimed --pendingPodDeleted-> active      active, claimed --assumed--> in flight
 *   in flight --restore-----------> claimed     in flight --bound, podPlaced, set, node, podDeleted of that name--> (none): nothing to restore
 */
class InMemoryReservations implements Reservations {
  readonly #rules: DecisionRules;
  readonly #ttls: Ttls;
  readonly #kept = new ReservationIndex();
  /** Released to pods that are being bound, by slot. Removed when the reason for the reservation ceases: then it is not restored. */
  readonly #inFlight = new Map<Key, Reservation>();
  /** For terminating pods by UID: why another revision replaces them. */
  readonly #begun = new Map<string, string>();

  constructor(rules: DecisionRules, ttls: Ttls) {
    this.#rules = rules;
    this.#ttls = ttls;
  }

  get size(): number {
    return this.#kept.size;
  }

  get nodes(): Iterable<string> {
    return this.#kept.nodes;
  }

  get nextExpiry(): Millis | undefined {
    return this.#kept.nextExpiry;
  }

  list(): readonly Reservation[] {
    return this.#kept.all();
  }

  inFlight(): readonly Reservation[] {
    return [...this.#inFlight.values()];
  }

  on(node: string): readonly Reservation[] {
    return this.#kept.on(node);
  }

  isVisibleTo(reservation: Reservation, pod: PodInfo): boolean {
    return pod.priority <= reservation.priority && !isSuccessor(reservation, pod);
  }

  podsFor(pod: PodInfo, node: string): readonly PodInfo[] {
    const here = this.#kept.on(node);
    if (here.length === 0) return noHeldPods;
    return here.filter((reservation) => this.isVisibleTo(reservation, pod)).map(({ heldPod }) => heldPod);
  }

  heldUpTo({ namespace, name, nodeName }: PodInfo): number {
    const kept = this.#kept.on(nodeName).find((one) => one.namespace === namespace && one.name === name);
    return kept?.priority ?? -Infinity;
  }

  claimUsers(pod: PodInfo, claim: string): readonly { readonly pod: PodInfo; readonly node: string }[] {
    if (this.#kept.size === 0) return [];
    return this.#kept
      .all()
      .filter((kept) => kept.namespace === pod.namespace && claimsOf(kept.heldPod).includes(claim) && this.isVisibleTo(kept, pod))
      .map(({ heldPod, node }) => ({ pod: heldPod, node }));
  }

  of(pod: PodInfo): Reservation | undefined {
    return this.#kept.of(pod);
  }

  podTerminating(facts: DeletionFacts): void {
    const decision = decide(facts, this.#rules);
    if (decision.keep && decision.purpose === 'upgrade') this.#begun.set(facts.pod.uid, decision.why);
  }

  podDeleted(facts: DeletionFacts): Made {
    const { pod, now } = facts;
    const begunFor = this.#begun.get(pod.uid);
    this.#begun.delete(pod.uid);
    // The pod was on a node, so no pod of its name needs a reservation any more.
    const dropped = this.#settle(pod, `pod ${pod.key} was on a node`);
    const decision = decide({ ...facts, begunFor }, this.#rules);
    const owner = controllerOf(pod.pod);
    if (!decision.keep || owner === undefined) return { decision, reservation: undefined, dropped };
    const reservation: Reservation = {
      namespace: pod.namespace,
      name: pod.name,
      owner,
      oldUid: pod.uid,
      node: pod.nodeName,
      priority: pod.priority,
      heldPod: heldPodOf(pod),
      createdAt: now,
      expiresAt: whenDeleted(now, this.#ttls),
      purpose: decision.purpose,
      why: decision.why,
      state: 'active',
      claimant: undefined,
      failedAt: undefined,
    };
    this.#kept.set(reservation);
    return { decision, reservation, dropped };
  }

  podSeen(pod: PodInfo, capacityOf: (node: string) => CapacityFacts, now: Millis): Seen {
    const before = this.#kept.of(pod);
    if (before === undefined) return nobody;
    // Most updates of a pending pod are status writes of this scheduler.
    if (before.claimant !== undefined && isSameClaim(before.claimant, pod)) return { ...nobody, reservation: before };
    if (!this.#rules.isOwnScheduler(pod.schedulerName)) {
      return { ...nobody, dropped: this.#drop(before, `its successor uses scheduler ${pod.schedulerName}`) };
    }
    const { node, spare } = capacityOf(before.node);
    const barred = whyNotOnNode(before.node, node, pod.pod.spec, true);
    if (barred !== undefined) return { ...nobody, dropped: this.#drop(before, barred) };
    const isKnown = before.claimant?.uid === pod.uid;
    // Free capacity is added only once: otherwise the reservation would grow with every update of the pod.
    const grows = !isKnown || before.claimant?.requests !== pod.requests;
    const after: Reservation = {
      ...before,
      state: 'claimed',
      claimant: pod,
      priority: pod.priority,
      heldPod: heldPodOfSuccessor(before.heldPod, pod, grows ? spare : undefined),
      expiresAt: isKnown ? before.expiresAt : whenSeen(before, now, this.#ttls),
    };
    this.#kept.set(after);
    const isLess = after.priority < before.priority || isEased(before.heldPod, after.heldPod);
    return { reservation: after, eased: isLess ? { before, after } : undefined, dropped: [] };
  }

  podFailed(pod: PodInfo, now: Millis): void {
    const kept = this.#kept.of(pod);
    if (kept === undefined || kept.failedAt !== undefined) return;
    this.#kept.set({ ...kept, state: 'claimed', claimant: kept.claimant ?? pod, failedAt: now, expiresAt: whenFailed(now, this.#ttls) });
  }

  podPlaced(pod: PodInfo): readonly Dropped[] {
    return this.#settle(pod, `pod ${pod.key} is on node ${pod.nodeName}`);
  }

  pendingPodDeleted(pod: PodInfo, now: Millis): void {
    const unclaimed = (by: Reservation): Reservation => ({
      ...by,
      state: 'active',
      claimant: undefined,
      expiresAt: whenClaimantDeleted(by, now, this.#ttls),
    });
    const kept = this.#kept.of(pod);
    if (kept?.claimant?.uid === pod.uid) this.#kept.set(unclaimed(kept));
    if (this.#inFlight.size === 0) return;
    for (const slot of slotsOf(pod)) {
      const inFlight = this.#inFlight.get(slot);
      if (inFlight?.claimant?.uid === pod.uid) this.#inFlight.set(slot, unclaimed(inFlight));
    }
  }

  assumed(pod: PodInfo): Reservation | undefined {
    const kept = this.#kept.of(pod);
    if (kept === undefined) return undefined;
    this.#kept.delete(kept);
    this.#inFlight.set(slotOf(kept), kept);
    return kept;
  }

  bound(released: Reservation): void {
    if (this.#inFlightAs(released) !== undefined) this.#inFlight.delete(slotOf(released));
  }

  restore(released: Reservation, now: Millis): Reservation | undefined {
    const inFlight = this.#inFlightAs(released);
    if (inFlight === undefined) return undefined;
    this.#inFlight.delete(slotOf(inFlight));
    const reservation = { ...inFlight, expiresAt: whenRestored(inFlight, now) };
    this.#kept.set(reservation);
    return reservation;
  }

  nodeChanged(name: string, node: Readonly<Node> | undefined, isPlaced: (key: Key) => boolean = () => false): readonly Dropped[] {
    return this.#dropWhere(
      ({ node }) => node === name,
      ({ heldPod, state }) =>
        isPlaced(heldPod.key) ? `pod ${heldPod.key} is on a node` : whyNotOnNode(name, node, heldPod.pod.spec, state === 'claimed'),
    );
  }

  setChanged(uid: string, set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): readonly Dropped[] {
    return this.#dropWhere(
      ({ owner }) => owner.uid === uid,
      ({ owner, name }) => whySetMakesNone(set, owner, name, this.#rules.isOwnScheduler),
    );
  }

  recheck(node: string, fit: (together: readonly Reservation[]) => boolean): readonly Dropped[] {
    const here = this.#kept.on(node);
    const staying: Reservation[] = [];
    // Among equals the oldest stays.
    for (const kept of here.toSorted((a, b) => b.priority - a.priority || a.createdAt - b.createdAt))
      if (fit([...staying, kept])) staying.push(kept);
    return here
      .filter((kept) => !staying.includes(kept))
      .flatMap((kept) => this.#drop(kept, `node ${node} has no free capacity for it any more`));
  }

  oldStillThere(reservation: Reservation, now: Millis): void {
    const kept = this.#kept.at(slotOf(reservation));
    if (kept?.oldUid !== reservation.oldUid || kept.state !== 'active') return;
    this.#kept.set({ ...kept, expiresAt: whenSeen(kept, now, this.#ttls) });
  }

  expiringWithin(ms: Millis, now: Millis): readonly Reservation[] {
    const next = this.#kept.nextExpiry;
    if (next === undefined || next > now + ms) return [];
    return this.#kept.all().filter(({ state, expiresAt }) => state === 'active' && expiresAt <= now + ms);
  }

  adopt(reservation: Reservation): Reservation | undefined {
    const slot = slotOf(reservation);
    if (this.#kept.at(slot) !== undefined || this.#inFlight.has(slot)) return undefined;
    this.#kept.set(reservation);
    return reservation;
  }

  expire(now: Millis): readonly Dropped[] {
    const next = this.#kept.nextExpiry;
    if (next === undefined || next > now) return [];
    const late = this.#kept.all().filter(({ expiresAt }) => expiresAt <= now);
    return late.flatMap((kept) => this.#drop(kept, whyExpired(kept), 'expired'));
  }

  /** The pod is on a node: ends its reservation, also one in flight, which is then not restored. */
  #settle(pod: PodInfo, why: string): readonly Dropped[] {
    if (this.#kept.size === 0 && this.#inFlight.size === 0) return [];
    return slotsOf(pod).flatMap((slot) => {
      this.#inFlight.delete(slot);
      const kept = this.#kept.at(slot);
      return kept === undefined ? [] : this.#drop(kept, why);
    });
  }

  #dropWhere(concerns: (kept: Reservation) => boolean, whyOver: (kept: Reservation) => string | undefined): readonly Dropped[] {
    for (const [slot, inFlight] of this.#inFlight) if (concerns(inFlight) && whyOver(inFlight) !== undefined) this.#inFlight.delete(slot);
    if (this.#kept.size === 0) return [];
    return this.#kept.all().flatMap((kept) => {
      const why = concerns(kept) ? whyOver(kept) : undefined;
      return why === undefined ? [] : this.#drop(kept, why);
    });
  }

  #drop(reservation: Reservation, why: string, result: Dropped['result'] = 'dropped'): readonly Dropped[] {
    this.#kept.delete(reservation);
    return [{ reservation, why, result }];
  }

  #inFlightAs(released: Reservation): Reservation | undefined {
    const inFlight = this.#inFlight.get(slotOf(released));
    return inFlight?.oldUid === released.oldUid ? inFlight : undefined;
  }
}

function isSameClaim(known: PodInfo, seen: PodInfo): boolean {
  if (known.uid !== seen.uid) return false;
  return known === seen || (jsonEqual(known.labels, seen.labels) && jsonEqual(known.pod.spec, seen.pod.spec));
}

function whyExpired({ state, failedAt }: Reservation): string {
  if (state === 'active') return 'no successor was created in time';
  return failedAt === undefined ? 'its successor was not tried in time' : 'its successor could not be scheduled in time';
}

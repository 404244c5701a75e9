import type { Millis } from '../../base/clock.ts';
import type { OwnerReference } from '../../kube/api/object.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { PodInfo, Requests } from '../pod/pod-info.ts';
import type { HeldCapacity } from '../core/hooks.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';

/** Room on a node that is kept for the successor of a pod that was deleted for an upgrade. A value: what changes is another one. */
export interface Reservation {
  readonly namespace: string;
  readonly name: string;
  /** Who makes the successor: the controller of the pod that went. */
  readonly owner: Readonly<OwnerReference>;
  /** The pod that went. */
  readonly oldUid: string;
  readonly node: string;
  /** Of the pod that went, or of its successor once that is seen. */
  readonly priority: number;
  /**
   * What others see on the node: the pod that went, or what its successor takes of that. Its uid is nobody else's and stays the same for as long as the room
   * is kept. `requests` counts, not what the pod in it says.
   */
  readonly heldPod: PodInfo;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** upgrade: another revision is to come; recreate: the same one again. */
  readonly purpose: Purpose;
  readonly why: string;
  /** active: nobody has claimed it yet; claimed: its successor is there and waits. */
  readonly state: 'active' | 'claimed';
  /** The successor, as it was when anything that counts here was last different. */
  readonly claimant: PodInfo | undefined;
  /** When a successor was first refused everywhere. */
  readonly failedAt: Millis | undefined;
}

export type Purpose = 'upgrade' | 'recreate';

/** A pod left its node: seen, or found missing in a list (`unseen`). */
export interface DeletionFacts {
  /** As it was known last. */
  readonly pod: PodInfo;
  readonly unseen: boolean;
  /** What the cache knows of the owner, when that is a StatefulSet, or one of another group with the same fields. */
  readonly set: Readonly<StatefulSet> | undefined;
  /** Likewise, for a DaemonSet. */
  readonly daemonSet?: Readonly<DaemonSet> | undefined;
  /** What pods of the owner's newest revision carry as `controller-revision-hash`; see `newestRevision`. */
  readonly newestRevision: string | undefined;
  readonly node: Readonly<Node> | undefined;
  /** This scheduler had it deleted to make room for another. The pod says so itself too, unless that could not be written. */
  readonly isVictim?: boolean;
  /** Why it was to be replaced by another revision when its deletion began; undefined: it was not, or that was not seen. */
  readonly begunFor?: string | undefined;
  /** Key of another pod of the owner that is on the node and not terminating; undefined: there is none. */
  readonly otherOnNode?: string | undefined;
  readonly now: Millis;
}

/** Whether a reservation is made, and why, for logs and for people who ask. */
export type Decision =
  | { readonly keep: true; readonly purpose: Purpose; readonly why: string }
  | { readonly keep: false; readonly because: NotReservedReason; readonly why: string };

/**
 * disabled, owner, set: nothing is reserved for such pods; place: no successor will be created; ended, disrupted: the pod was not deleted for its successor; node:
 * the successor may not run there; revision: the pod is not replaced by one of another revision.
 */
export type NotReservedReason = 'disabled' | 'owner' | 'set' | 'place' | 'ended' | 'disrupted' | 'node' | 'revision';

/** What a node has free. Less than nothing is possible. */
export type Spare = Pick<Requests, 'cpu' | 'memory' | 'ephemeral' | 'scalars'>;

/** The node of a reservation, when a successor is seen. */
export interface CapacityFacts {
  /** undefined: gone, or not known. */
  readonly node: Readonly<Node> | undefined;
  /** What it has free beside its pods and all reservations. Undefined: nothing. */
  readonly spare: Spare | undefined;
}

/** A reservation that ended, and why, as people read it. It may help pending pods of at most `reservation.priority`. */
export interface Dropped {
  readonly reservation: Reservation;
  readonly why: string;
  readonly result: 'expired' | 'dropped';
}

/** What a deletion led to. */
export interface Made {
  readonly decision: Decision;
  readonly reservation: Reservation | undefined;
  /** Earlier reservations under the same name; they end, since a pod of that name was on a node. */
  readonly dropped: readonly Dropped[];
}

/** What follows from seeing a successor. */
export interface Seen {
  /** Its reservation, as it is now. */
  readonly reservation: Reservation | undefined;
  /** The successor requests less than the deleted pod, or has a lower priority: as if a pod of the node was updated, for pods of at most `before.priority`. */
  readonly eased: { readonly before: Reservation; readonly after: Reservation } | undefined;
  readonly dropped: readonly Dropped[];
}

/**
 * All reservations. Synchronous; the caller enqueues the pods that a change may help. Every change must be passed on to it, also while nothing is reserved: a
 * reservation that was released to a pod whose binding is under way is restored if binding fails, but only while there is still a reason for it.
 */
export interface Reservations extends HeldCapacity {
  readonly size: number;
  list(): readonly Reservation[];
  /** Reservations that were released to pods whose binding is under way, and that may be restored. */
  inFlight(): readonly Reservation[];
  /** Nodes with reservations. */
  readonly nodes: Iterable<string>;
  /** The same list until something of it changes. */
  on(node: string): readonly Reservation[];
  /** Whether this reservation counts against that pod. */
  isVisibleTo(reservation: Reservation, pod: PodInfo): boolean;
  /** Held pods on the node that count against this pod. */
  podsFor(pod: PodInfo, node: string): readonly PodInfo[];
  /** Held pods that use this claim, as far as they count against this pod: its own reservation does not use its claims. */
  claimUsers(pod: PodInfo, claim: string): readonly { readonly pod: PodInfo; readonly node: string }[];
  /** Of the reservation for the pod of this name on its node. */
  heldUpTo(pod: PodInfo): number;
  /** The reservation for this pod. */
  of(pod: PodInfo): Reservation | undefined;
  /**
   * It got a deletionTimestamp. That it is deleted for another revision is remembered, even if its owner wants the old one again before it is gone. For pods on nodes.
   */
  podTerminating(facts: DeletionFacts): void;
  /** Right after the cache dropped the pod, in the same turn. For pods that were on a node. */
  podDeleted(facts: DeletionFacts): Made;
  /** A pending pod was added or updated, also one of another scheduler. @param room - asked at most once */
  podSeen(pod: PodInfo, room: (node: string) => CapacityFacts, now: Millis): Seen;
  /** No node passed. The first time counts. */
  podFailed(pod: PodInfo, now: Millis): void;
  /** A pod is on a node: bound by this scheduler and confirmed, or by another one. */
  podPlaced(pod: PodInfo): readonly Dropped[];
  /**
   * A pending pod was deleted; if it was being bound, {@link restore} is called as well, before or after. Another may be created under its name: the reservation
   * stays, for no longer than for a successor that was never seen.
   */
  pendingPodDeleted(pod: PodInfo, now: Millis): void;
  /** It is assumed on a node: its reservation is released. @returns what to restore should binding fail; it is `used` on its node, `moved` elsewhere */
  assumed(pod: PodInfo): Reservation | undefined;
  /** Binding succeeded: nothing will be restored. Seeing the pod on its node ({@link podPlaced}) has the same effect. */
  bound(released: Reservation): void;
  /**
   * Binding failed: reserves again, unless the reason has ceased. If the pod was assumed on another node, other pods may use the capacity by now: {@link recheck}.
   * @returns the reservation as it is now
   */
  restore(released: Reservation, now: Millis): Reservation | undefined;
  /** @param node - as it is now; undefined: gone. @param isPlaced - whether a pod of this key is on a node, and needs no reservation */
  nodeChanged(name: string, node: Readonly<Node> | undefined, isPlaced?: (key: Key) => boolean): readonly Dropped[];
  /** @param set - as it is now; undefined: gone */
  setChanged(uid: string, set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): readonly Dropped[];
  /**
   * A pod of higher priority was placed on the node: drops the reservations that no longer fit, those of the lowest priority first.
   * @param fit - whether the held pods of all these fit together beside the node's pods; it has said so of all but the last
   */
  recheck(node: string, fit: (together: readonly Reservation[]) => boolean): readonly Dropped[];
  /** The deleted pod is still in the API, terminating: extends the reservation, up to a limit, since no successor is created before that pod is gone. */
  oldStillThere(reservation: Reservation, now: Millis): void;
  /** No successor was seen, and they expire within this time: it is worth a request whether the deleted pods are still in the API. */
  expiringWithin(ms: Millis, now: Millis): readonly Reservation[];
  /** A reservation that an earlier process made. @returns undefined when there is something under that name already */
  adopt(reservation: Reservation): Reservation | undefined;
  expire(now: Millis): readonly Dropped[];
  /** When {@link expire} has something to do; undefined: never. */
  readonly nextExpiry: Millis | undefined;
}

import type { Millis } from '../../base/clock.ts';
import type { OwnerReference } from '../../kube/api/object.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { PodInfo, Requests } from '../pod/pod-info.ts';
import type { HeldCapacity } from '../core/hooks.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';

/** Capacity of a node that is held for the successor of a pod that was deleted for an upgrade. Immutable: a change makes another value. */
export interface Reservation {
  readonly namespace: string;
  readonly name: string;
  /** The controller of the deleted pod, which creates the successor. */
  readonly owner: Readonly<OwnerReference>;
  /** UID of the deleted pod. */
  readonly oldUid: string;
  readonly node: string;
  /** Of the deleted pod, or of its successor once that is seen. */
  readonly priority: number;
  /**
   * What other pods see on the node: the deleted pod, or its successor with the requests that the reservation covers. Its UID is unique, and stays the same
   * for the life of the reservation. `requests` counts, not the requests in `pod`.
   */
  readonly heldPod: PodInfo;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** upgrade: the successor has another revision; recreate: the same one. */
  readonly purpose: Purpose;
  readonly why: string;
  /** active: no successor was seen yet; claimed: its successor exists and is pending. */
  readonly state: 'active' | 'claimed';
  /** The successor, as of the last change that counts here. */
  readonly claimant: PodInfo | undefined;
  /** When a successor was first unschedulable. */
  readonly failedAt: Millis | undefined;
}

export type Purpose = 'upgrade' | 'recreate';

/** An assigned pod was deleted: by a watch event, or missing in a list (`unseen`). */
export interface DeletionFacts {
  /** Its last known state. */
  readonly pod: PodInfo;
  readonly unseen: boolean;
  /** The cached owner, if it is a StatefulSet, or one of another group with the same fields. */
  readonly set: Readonly<StatefulSet> | undefined;
  /** The cached owner, if it is a DaemonSet. */
  readonly daemonSet?: Readonly<DaemonSet> | undefined;
  /** Label `controller-revision-hash` of pods of the owner's newest revision; see `newestRevision`. */
  readonly newestRevision: string | undefined;
  readonly node: Readonly<Node> | undefined;
  /** This scheduler preempted the pod. Its DisruptionTarget condition shows that too, unless the write failed. */
  readonly isVictim?: boolean;
  /** Why another revision was to replace the pod when its deletion began; undefined: none was, or the beginning was not seen. */
  readonly begunFor?: string | undefined;
  /** Key of another pod of the owner that is on the node and not terminating; undefined: there is none. */
  readonly otherOnNode?: string | undefined;
  readonly now: Millis;
}

/** Whether a reservation is made, and why, for logs and explanations. */
export type Decision =
  | { readonly keep: true; readonly purpose: Purpose; readonly why: string }
  | { readonly keep: false; readonly because: NotReservedReason; readonly why: string };

/**
 * disabled, owner, set: nothing is reserved for such pods; place: no successor will be created; ended, disrupted: the pod was not deleted for its successor;
 * node: the successor may not run there; revision: the pod is not replaced by one of another revision.
 */
export type NotReservedReason = 'disabled' | 'owner' | 'set' | 'place' | 'ended' | 'disrupted' | 'node' | 'revision';

/** Free capacity of a node. May be negative. */
export type Spare = Pick<Requests, 'cpu' | 'memory' | 'ephemeral' | 'scalars'>;

/** The node of a reservation, when a successor is seen. */
export interface CapacityFacts {
  /** undefined: deleted, or not known. */
  readonly node: Readonly<Node> | undefined;
  /** Free capacity, without its pods and all reservations. Undefined: none. */
  readonly spare: Spare | undefined;
}

/** A reservation that ended, and why, as text for people. It may help pending pods of at most `reservation.priority`. */
export interface Dropped {
  readonly reservation: Reservation;
  readonly why: string;
  readonly result: 'expired' | 'dropped';
}

/** Result of a deletion. */
export interface Made {
  readonly decision: Decision;
  readonly reservation: Reservation | undefined;
  /** Earlier reservations under the same name; they end, since a pod of that name was on a node. */
  readonly dropped: readonly Dropped[];
}

/** Result of seeing a successor. */
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
  /** Priority of the reservation for the pod of this name on its node; -Infinity without one. */
  heldUpTo(pod: PodInfo): number;
  /** The reservation for this pod. */
  of(pod: PodInfo): Reservation | undefined;
  /**
   * An assigned pod got a deletionTimestamp. That it is deleted for another revision is remembered, even if its owner is rolled back before it is deleted.
   */
  podTerminating(facts: DeletionFacts): void;
  /** An assigned pod was deleted: called right after the cache dropped it, before any other event. */
  podDeleted(facts: DeletionFacts): Made;
  /** A pending pod was added or updated, also one of another scheduler. @param capacityOf - called at most once */
  podSeen(pod: PodInfo, capacityOf: (node: string) => CapacityFacts, now: Millis): Seen;
  /** No node passed. Only the first call counts. */
  podFailed(pod: PodInfo, now: Millis): void;
  /** A pod is on a node: bound by this scheduler and confirmed, or by another one. */
  podPlaced(pod: PodInfo): readonly Dropped[];
  /**
   * A pending pod was deleted; if it was being bound, {@link restore} is called as well, before or after. Another may be created under its name: the
   * reservation stays, for no longer than for a successor that was never seen.
   */
  pendingPodDeleted(pod: PodInfo, now: Millis): void;
  /** A pod was assumed: releases its reservation. @returns what to {@link restore} if binding fails; counts as `used` on its node, `moved` on another */
  assumed(pod: PodInfo): Reservation | undefined;
  /** Binding succeeded: nothing will be restored. Seeing the pod on its node ({@link podPlaced}) has the same effect. */
  bound(released: Reservation): void;
  /**
   * Binding failed: reserves again, unless the reason has ceased. If the pod was assumed on another node, other pods may use the capacity by now: {@link recheck}.
   * @returns the reservation as it is now
   */
  restore(released: Reservation, now: Millis): Reservation | undefined;
  /** @param node - present state; undefined: deleted. @param isPlaced - whether a pod of this key is on a node, and needs no reservation */
  nodeChanged(name: string, node: Readonly<Node> | undefined, isPlaced?: (key: Key) => boolean): readonly Dropped[];
  /** @param set - present state; undefined: deleted */
  setChanged(uid: string, set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): readonly Dropped[];
  /**
   * A pod of higher priority was placed on the node: drops the reservations that no longer fit, those of the lowest priority first.
   * @param fit - whether the held pods of all these fit together beside the node's pods; it has returned true for all but the last
   */
  recheck(node: string, fit: (together: readonly Reservation[]) => boolean): readonly Dropped[];
  /** The deleted pod is still in the API, terminating: extends the reservation, up to a limit, since no successor is created before that pod is gone. */
  oldStillThere(reservation: Reservation, now: Millis): void;
  /** Reservations without a successor that expire within this time: the caller checks whether the deleted pods still exist in the API. */
  expiringWithin(ms: Millis, now: Millis): readonly Reservation[];
  /** Adds a reservation of an earlier process. @returns undefined if there is one for that name already */
  adopt(reservation: Reservation): Reservation | undefined;
  expire(now: Millis): readonly Dropped[];
  /** When {@link expire} has something to do; undefined: never. */
  readonly nextExpiry: Millis | undefined;
}

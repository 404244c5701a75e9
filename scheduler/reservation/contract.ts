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

/** Whether room is to be kept, and why, for logs and for people who ask. */
export type Decision =
  | { readonly keep: true; readonly purpose: Purpose; readonly why: string }
  | { readonly keep: false; readonly because: NotReservedReason; readonly why: string };

/** disabled, owner, set: not what room is kept for; place: no successor comes; ended, disrupted: it did not go for its successor; node: none may come there. */
export type NotReservedReason = 'disabled' | 'owner' | 'set' | 'place' | 'ended' | 'disrupted' | 'node' | 'revision';

/** What a node has free. Less than nothing is possible. */
export type Spare = Pick<Requests, 'cpu' | 'memory' | 'ephemeral' | 'scalars'>;

/** The node on which the room is, when a successor is seen. */
export interface CapacityFacts {
  /** undefined: gone, or not known. */
  readonly node: Readonly<Node> | undefined;
  /** What it has free beside its pods and all that is kept. Undefined: nothing. */
  readonly spare: Spare | undefined;
}

/** Room that is kept no longer, and why, as people read it. Whoever waits with at most `reservation.priority` may want to know. */
export interface Dropped {
  readonly reservation: Reservation;
  readonly why: string;
  readonly result: 'expired' | 'dropped';
}

/** What a deletion led to. */
export interface Made {
  readonly decision: Decision;
  readonly reservation: Reservation | undefined;
  /** Room that was kept under the same name before, which a pod that had a place ended. */
  readonly dropped: readonly Dropped[];
}

/** What a successor's being there led to. */
export interface Seen {
  /** The room that is kept for it, as it is now. */
  readonly reservation: Reservation | undefined;
  /** The successor takes less of the node than what went, or is less important: as if a pod of the node was updated, for who has at most `before.priority`. */
  readonly eased: { readonly before: Reservation; readonly after: Reservation } | undefined;
  readonly dropped: readonly Dropped[];
}

/**
 * All rooms that are kept. Synchronous; whoever calls it sees to waking others. It is to be told of everything, also while nothing is kept: room that was released
 * to a pod that is being bound may have to come back, and does so only while there is a reason.
 */
export interface Reservations extends HeldCapacity {
  readonly size: number;
  list(): readonly Reservation[];
  /** Rooms that were released to pods which are being bound, and that may come back. */
  inFlight(): readonly Reservation[];
  /** Nodes with room kept on them. */
  readonly nodes: Iterable<string>;
  /** The same list until something of it changes. */
  on(node: string): readonly Reservation[];
  /** Whether this pod has to leave room for that reservation. */
  isVisibleTo(reservation: Reservation, pod: PodInfo): boolean;
  /** Held pods on the node that this pod has to leave room for. */
  podsFor(pod: PodInfo, node: string): readonly PodInfo[];
  /** Held pods that use this claim, as far as this pod has to mind them: its own room is no user of its claims. */
  claimUsers(pod: PodInfo, claim: string): readonly { readonly pod: PodInfo; readonly node: string }[];
  /** Of the room that is kept for the pod of this name on its node. */
  heldUpTo(pod: PodInfo): number;
  /** The room that is kept for this pod. */
  of(pod: PodInfo): Reservation | undefined;
  /** It begins to go: that it goes for another revision stays so, also when its owner wants the old one again before it is gone. For pods that have a place. */
  podTerminating(facts: DeletionFacts): void;
  /** Right after the cache let the pod go, in the same turn. For pods that had a place. */
  podDeleted(facts: DeletionFacts): Made;
  /** A pod that wants a place was seen, or seen changed; also one that another scheduler is to place. @param room - asked at most once */
  podSeen(pod: PodInfo, room: (node: string) => CapacityFacts, now: Millis): Seen;
  /** It was refused everywhere. The first time counts. */
  podFailed(pod: PodInfo, now: Millis): void;
  /** A pod has a place: by our doing, confirmed, or by somebody else's. */
  podPlaced(pod: PodInfo): readonly Dropped[];
  /**
   * A pod is gone before it had a place; if it was being bound, {@link restore} is due as well, before or after. Another may come under its name: the room is
   * kept, for no longer than for one that nobody has seen.
   */
  pendingPodDeleted(pod: PodInfo, now: Millis): void;
  /** It was given a place: the room is released. @returns what to give back should binding fail; it is `used` on its node, `moved` elsewhere */
  assumed(pod: PodInfo): Reservation | undefined;
  /** Binding succeeded: nothing is given back. Seeing the pod in its place ({@link podPlaced}) says the same. */
  bound(released: Reservation): void;
  /**
   * Binding failed: the room is kept again, unless its reason went meanwhile. Others may have taken it if the place was on another node: {@link recheck}.
   * @returns what is kept now
   */
  restore(released: Reservation, now: Millis): Reservation | undefined;
  /** @param node - as it is now; undefined: gone. @param isPlaced - whether a pod of this key has a place, so that nothing is kept for it by mistake */
  nodeChanged(name: string, node: Readonly<Node> | undefined, isPlaced?: (key: Key) => boolean): readonly Dropped[];
  /** @param set - as it is now; undefined: gone */
  setChanged(uid: string, set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): readonly Dropped[];
  /**
   * Somebody more important took of the node: what does not fit any longer is dropped; the most important is kept first.
   * @param fit - whether the held pods of all these fit together beside the node's pods; it has said so of all but the last
   */
  recheck(node: string, fit: (together: readonly Reservation[]) => boolean): readonly Dropped[];
  /** The pod that went is still in the API, on its way out: the room is kept on. Up to a limit: one that never goes makes no successor. */
  oldStillThere(reservation: Reservation, now: Millis): void;
  /** Nobody has claimed them, and they expire within this time: whether the pods that went are still in the API is worth a look. */
  expiringWithin(ms: Millis, now: Millis): readonly Reservation[];
  /** Room that a process before this one kept. @returns undefined when there is something under that name already */
  adopt(reservation: Reservation): Reservation | undefined;
  expire(now: Millis): readonly Dropped[];
  /** When {@link expire} has something to do; undefined: never. */
  readonly nextExpiry: Millis | undefined;
}

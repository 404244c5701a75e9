import type { Millis } from '../../base/clock.ts';
import type { NodeChange } from '../cache/cluster.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';

/**
 * Capacity of nodes that is held for pods which do not exist yet, as filters and the queue read it. Read for every comparison of two pods: implementations are
 * fast, synchronous and without side effects.
 */
export interface HeldCapacity {
  /** Number of holds. */
  readonly size: number;
  /** Nodes with held capacity. */
  readonly nodes: Iterable<string>;
  /** Pods that count on the node, in addition to the pods assigned to it, when this pod is filtered. */
  podsFor(pod: PodInfo, node: string): readonly PodInfo[];
  /** Pods of {@link podsFor}, on all nodes, that use this claim. */
  claimUsers(pod: PodInfo, claim: string): readonly { readonly pod: PodInfo; readonly node: string }[];
  /** The capacity held for this pod. */
  of(pod: PodInfo): { readonly node: string } | undefined;
  /** Pods of at most this priority do not get the capacity that this pod frees, because it is held. -Infinity: nothing is held. */
  heldUpTo(pod: PodInfo): number;
}

/** Result of Reserve for one pod, used by its binding cycle. */
export interface Reserved {
  /** Called after the volumes are bound and before the pod is. @throws if the pod cannot be bound; the signal's reason */
  preBind(signal: AbortSignal): Promise<void>;
  /** The pod is bound. */
  postBind(): void;
  /**
   * The pod will not be bound. Called before other pods are requeued, so that they are not offered capacity that is held again. Idempotent.
   * @returns a function to call once the pod no longer counts on its node; undefined: none
   */
  unreserve(): (() => void) | undefined;
  /** The binding cycle has ended, with or without success. */
  done(): void;
}

/**
 * Extension points of the scheduler, phase by phase. The scheduler is complete without them: {@link noHooks}. Calls are synchronous, and no event is processed
 * in between.
 */
export interface SchedulerHooks {
  // ---- informer events
  /** A pod was added or updated. @returns whether the scheduler ignores it: it does not count on its node, and no other hook is called */
  ignores(pod: PodInfo): boolean;
  /** @returns whether the pod was ignored until now */
  ignoredPodDeleted(pod: PodInfo): boolean;
  /** A pod without a node was added or updated; also a pod of another scheduler. */
  onPodPending(pod: PodInfo): void;
  /** A pod without a node, or an assumed pod, was deleted. */
  onPendingPodDeleted(pod: PodInfo): void;
  /** @param wasAssumed - this scheduler had assumed the pod, on this node or on another */
  onPodAssigned(pod: PodInfo, wasAssumed: boolean): void;
  onPodTerminating(pod: PodInfo): void;
  /**
   * An assigned pod was deleted.
   * @param how - unseen: a list no longer has it; isVictim: this scheduler preempted it
   * @returns the priority up to which pods do not get the freed capacity, because it is held; -Infinity: all pods may get it
   */
  onAssignedPodDeleted(pod: PodInfo, how: { readonly unseen: boolean; readonly isVictim: boolean }): number;
  /** @param node - undefined: deleted */
  onNodeChanged(name: string, node: Readonly<Node> | undefined, change: NodeChange | 'deleted'): void;
  /** @param controller - undefined: deleted */
  onControllerChanged(uid: string, controller: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): void;
  /** Called after each informer event, and after anything else that may let a pod be scheduled. */
  onChange(): void;

  // ---- phases of a pod's scheduling
  /** Reserve: right after the pod was assumed on the node. */
  onReserve(pod: PodInfo, node: string): Reserved | undefined;
  /** No node passed. */
  onUnschedulable(pod: PodInfo): void;

  // ---- the process
  /** @param signal - aborts when this process loses the lease. Nothing is written before this call */
  start(signal: AbortSignal): void;
  /** Handles timeouts. @param signal - for requests @returns when to call again; undefined: not needed */
  tick(signal: AbortSignal): Millis | undefined;
  /** Resolves when nothing is being written. */
  idle(): Promise<void>;
}

export const noHooks: SchedulerHooks = {
  ignores: () => false,
  ignoredPodDeleted: () => false,
  onPodPending() {},
  onPendingPodDeleted() {},
  onPodAssigned() {},
  onPodTerminating() {},
  onAssignedPodDeleted: () => -Infinity,
  onNodeChanged() {},
  onControllerChanged() {},
  onChange() {},
  onReserve: () => undefined,
  onUnschedulable() {},
  start() {},
  tick: () => undefined,
  idle: () => Promise.resolve(),
};

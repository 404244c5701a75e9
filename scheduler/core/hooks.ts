import type { Millis } from '../../base/clock.ts';
import type { NodeChange } from '../cache/cluster.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';

/**
 * Capacity of nodes that is held for pods which do not exist yet, as filters and the queue read it. Read for every pod that is compared with another: fast,
 * synchronous, without side effects.
 */
export interface HeldCapacity {
  /** How many holds there are. */
  readonly size: number;
  /** Nodes with held capacity. */
  readonly nodes: Iterable<string>;
  /** Pods that count on the node, beside those that are there, when this pod is filtered. */
  podsFor(pod: PodInfo, node: string): readonly PodInfo[];
  /** Pods of {@link podsFor}, on all nodes, that use this claim. */
  claimUsers(pod: PodInfo, claim: string): readonly { readonly pod: PodInfo; readonly node: string }[];
  /** What is held for this very pod. */
  of(pod: PodInfo): { readonly node: string } | undefined;
  /** Of what this pod leaves on its node: pods of at most this priority do not get it, as it is held. -Infinity: nothing is. */
  heldUpTo(pod: PodInfo): number;
}

/** What Reserve made for one pod, for its binding cycle. */
export interface Reserved {
  /** After volumes are bound, before the pod is. @throws why it cannot be bound; the signal's reason */
  preBind(signal: AbortSignal): Promise<void>;
  /** The pod is bound. */
  postBind(): void;
  /**
   * The pod is not going to be bound. Before others are woken, so that what is held again is not offered to them. Twice is harmless.
   * @returns what is to be done once the pod does not count on its node any more; undefined: nothing
   */
  unreserve(): (() => void) | undefined;
  /** The binding cycle is over, one way or the other. */
  done(): void;
}

/**
 * What takes part in scheduling beside the cycle itself, phase by phase. The scheduler is complete without: {@link noHooks}. Calls are synchronous, in the turn of
 * what happened, after {@link SchedulerState} has it.
 */
export interface SchedulerHooks {
  // ---- informer events
  /** A pod was seen, or seen changed. @returns true: it does not count on its node, and nothing else is done about it */
  ignores(pod: PodInfo): boolean;
  /** @returns whether the pod was ignored until now */
  ignoredPodDeleted(pod: PodInfo): boolean;
  /** A pod without a node was seen, or seen changed; also one of another scheduler. */
  onPodPending(pod: PodInfo): void;
  /** A pod without a node is gone, or one that was assumed. */
  onPendingPodDeleted(pod: PodInfo): void;
  /** @param wasAssumed - it was ours to bind, and is where it was to be, or elsewhere */
  onPodAssigned(pod: PodInfo, wasAssumed: boolean): void;
  onPodTerminating(pod: PodInfo): void;
  /**
   * A pod that had a node is gone.
   * @param how - unseen: found missing in a list; isVictim: deleted by us to make room for another
   * @returns the priority up to which nobody gets what it leaves, as it is held; -Infinity: everybody may
   */
  onAssignedPodDeleted(pod: PodInfo, how: { readonly unseen: boolean; readonly isVictim: boolean }): number;
  /** @param node - undefined: gone */
  onNodeChanged(name: string, node: Readonly<Node> | undefined, change: NodeChange): void;
  /** @param controller - undefined: gone */
  onControllerChanged(uid: string, controller: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): void;
  /** After each event of an informer, and after whatever else may give the scheduler something to do. */
  onChange(): void;

  // ---- phases of a pod's scheduling
  /** Reserve: right after the pod was assumed on the node. */
  onReserve(pod: PodInfo, node: string): Reserved | undefined;
  /** No node passed. */
  onUnschedulable(pod: PodInfo): void;

  // ---- the process
  /** @param signal - aborts when this process does not lead any more. Nothing is written before this */
  start(signal: AbortSignal): void;
  /** Does what time alone brings. @param signal - of calls @returns when to call again; undefined: no need to */
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

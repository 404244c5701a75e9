import type { Node as NodeFields, Pod as PodFields } from 'kubernetes-types/core/v1.js';
import type { Millis } from '../../../base/clock.ts';
import type { JsonObject } from '../../../kube/api/json.ts';
import type { ClockGap } from '../clock-gaps.ts';
import type { Kube } from '../../../kube/api/object.ts';

export type Node = Kube<NodeFields>;
export type Pod = Kube<PodFields>;

/** The NodeConfigRollout that drains a node. */
export interface DrainOwner {
  name: string;
  uid: string;
}

/** What a drain does with pods whose eviction loses something. */
export interface DrainPods {
  /** Pods without a controller, which nothing creates again. Block: the drain fails at once and names them, as kubectl drain without --force. @default 'Block' */
  unmanagedPods: 'Evict' | 'Block';
  /** Pods with an emptyDir volume, whose data is lost. Block: as kubectl drain without --delete-emptydir-data. @default 'Evict' */
  emptyDir: 'Evict' | 'Block';
}

export interface DrainPolicy extends DrainPods {
  /** From the cordon until the drain has failed, in ms. @default 600_000 */
  timeoutMs: Millis;
  /** Replaces `terminationGracePeriodSeconds` of the evicted pods, in seconds. @default each pod's own */
  gracePeriodSeconds?: number | undefined;
}

export const defaultDrainPolicy: DrainPolicy = { unmanagedPods: 'Block', emptyDir: 'Evict', timeoutMs: 10 * 60_000 };

/** Why a pod was not evicted, and how long to wait before it is tried again; 0: now. */
export interface HeldBack {
  why: string;
  leftMs: Millis;
}

export interface DrainInput {
  /** From a cache or from the server: a write based on an outdated one fails with a conflict. */
  node: Readonly<Node>;
  /** All pods of the node; those of other nodes are ignored. */
  pods: readonly Readonly<Pod>[];
  owner: DrainOwner;
  policy: DrainPolicy;
  /** Wall clock, ms since 1970. */
  now: Millis;
  /** Times that the wall clock jumped over. @default none */
  gaps?: readonly ClockGap[];
  /** Conditions of Nodes may not be written: the drain goes on without them. @default false */
  isSilent?: boolean;
  /** Evictions that the server refused a moment ago, by uid of the pod. @default none */
  heldBack?: (uid: string) => HeldBack | undefined;
}

/** A pod to evict, if it is still this one. */
export interface PodRef {
  namespace: string;
  name: string;
  uid: string;
}

/**
 * Blocked: the policy does not evict some pod. Timeout: pods are left after `timeoutMs`. Uncordoned: somebody removed the cordon while the node was
 * being drained, which is respected: it is not cordoned again.
 */
export type DrainFailure = 'Blocked' | 'Timeout' | 'Uncordoned';

/** A strategic merge patch of a Node, with its uid and resourceVersion: it fails where somebody else has written the Node since. */
export interface PatchNode {
  do: 'patch';
  what: 'cordon' | 'restart timer' | 'set conditions' | 'remove conditions';
  node: string;
  subresource?: 'status';
  body: JsonObject;
}

/** What to do next for a node. All but `patch`, `evict` and `uncordon` write nothing. */
export type DrainStep =
  | PatchNode
  | { do: 'evict'; node: string; pods: readonly PodRef[]; gracePeriodSeconds: number | undefined }
  /** `isHeld`: not only by pods that terminate within their grace period. */
  | { do: 'wait'; why: string; isHeld: boolean; requeueAfterMs: Millis }
  | { do: 'drained' }
  /** Final as long as the Node carries the record of this drain: note the failure before the node is given back. */
  | { do: 'failed'; reason: DrainFailure; why: string }
  /** Removes the record of the drain, and the cordon if it is ours: decided on the Node as the server has it then. */
  | { do: 'uncordon'; node: string; owner: DrainOwner }
  /** Nothing of the drain is left on the node. */
  | { do: 'given-back' };

/** A pod that was not evicted, in the server's own words. */
export interface RefusedPod extends PodRef {
  why: string;
}

/** What a step led to. Plan again after `requeueAfterMs`, or earlier when Node or pods change; undefined: there is nothing to wait for. */
export type DrainOutcome = { requeueAfterMs: Millis | undefined } & (
  | { result: 'nothing' }
  /** `node`: as the server has it now, for caches that have not seen it yet. */
  | { result: 'patched'; node: Node }
  /** Somebody else has written the Node since it was read: plan from a newer one. */
  | { result: 'conflict' }
  /** The Node is gone. */
  | { result: 'gone' }
  /** `deleted`: pods that do not exist any more. `skipped`: pods that were not tried, because the server is not reachable. */
  | { result: 'evicted'; evicted: readonly PodRef[]; deleted: readonly PodRef[]; refused: readonly RefusedPod[]; skipped: number }
);

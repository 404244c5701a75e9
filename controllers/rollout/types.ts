import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { DrainPods } from './drain/contract.ts';
import type { Gate } from './gates/contract.ts';
import type { Window } from './windows.ts';

/** Rolls out one kubelet configuration to the nodes that it selects. `deploy/rollout-crd.ts` has its schema. */
export const rollouts: Resource = {
  group: 'dkc.dev',
  version: 'v1alpha1',
  resource: 'nodeconfigrollouts',
  kind: 'NodeConfigRollout',
  namespaced: false,
};

/** As the API server stores it. `rules.ts` validates it. */
export interface NodeConfigRollout extends KubeObject {
  spec?: RolloutSpec;
  status?: RolloutStatus;
}

/** A count of nodes, or a percentage of those selected, such as `10%`. */
export type Count = number | string;

export interface RolloutStep {
  /** How many nodes have the configuration when this step is done, counted from the first. */
  nodes: Count;
  /** How long the next step waits once every node of this one is settled; a Go duration. @default 0s */
  hold?: string;
  /** The next step waits for `dkc rollout approve`. @default false */
  approve?: boolean;
}

export interface RolloutSpec {
  /** `{}` selects every node. */
  nodeSelector?: { matchLabels?: Record<string, string>; matchExpressions?: unknown[] };
  configMap?: { namespace?: string; name?: string; kubeletConfigKey?: string };
  /** @default 1, 10%, 50%, 100% */
  steps?: RolloutStep[];
  /** Nodes in flight, draining or not Ready at once. @default 10%, at least 1 */
  maxUnavailable?: Count;
  /** Label of nodes: only nodes with one value of it are in flight at once. */
  spreadBy?: string;
  /** Failed nodes that stop the rollout; a percentage is of the nodes touched. @default 1 */
  failureBudget?: Count;
  /** @default Rollback */
  onFailure?: 'Rollback' | 'Pause';
  /** A node that is not settled for longer has failed; a Go duration. @default 15m */
  nodeDeadline?: string;
  /** @default Auto */
  drain?: 'Auto' | 'Never' | 'Always';
  /** A Go duration. @default 10m */
  drainTimeout?: string;
  /** What a drain does with pods whose eviction loses something. */
  drainPolicy?: Partial<DrainPods>;
  windows?: Window[];
  /** All must hold before a node is touched, and while a step holds. */
  gates?: Gate[];
  signature?: { required?: boolean };
  /** Nodes whose kubelet would reject the configuration are left out. @default false: then none is touched */
  skipInvalidNodes?: boolean;
  /** @default false */
  paused?: boolean;
  /** Name of the revision that is rolled back, as `dkc rollout abort` sets it. */
  abortedRevision?: string;
  /** A stopped rollout tries the same revision again when this number is raised, as `dkc rollout resume` does. @default 1 */
  attempt?: number;
  /** @default 10 */
  revisionHistoryLimit?: number;
}

export type Phase = 'Pending' | 'Progressing' | 'Holding' | 'Paused' | 'Complete' | 'RollingBack' | 'RolledBack' | 'Failed';

/** Who approved a step, and when (RFC 3339). */
export interface Approval {
  /** Index of the step, from 1. */
  step: number;
  /** Name of the revision that it is for. */
  revision: string;
  by: string;
  at: string;
}

export interface NodeFailure {
  node: string;
  error: string;
  /** RFC 3339. */
  at: string;
}

export interface NodeCounts {
  selected: number;
  /** Assigned the revision. */
  updated: number;
  settled: number;
  inFlight: number;
  failed: number;
  /** Their kubelet would reject the revision. */
  refused: number;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** A node that is assigned a revision, or drained for it, once the status has recorded it. */
export interface Touch {
  node: string;
  /** Name; absent: to its local configuration. */
  revision?: string;
  /** When that was decided (RFC 3339). */
  at: string;
}

export interface Touches {
  /** At most twice MAX_TOUCHES. */
  nodes: Touch[];
  /** Versions of the caches: a process with older caches must not plan. */
  nodesVersion?: string;
  nodeConfigsVersion?: string;
}

export interface RolloutStatus {
  observedGeneration?: number;
  phase?: Phase;
  /** Name of the ConfigMap that nodes are assigned: the copy of what spec names. */
  revision?: string;
  /** The last revision that was complete; nodes are rolled back to it. Absent: to their local configuration. */
  previousRevision?: string;
  /** Why the rollout has stopped: nodes failed, or a user aborted it. Absent: it has not. */
  stopped?: 'Failures' | 'Aborted';
  /** The attempt of spec that this status is about. */
  attempt?: number;
  /** When this attempt began (RFC 3339); absent: no retry of the revision was requested. */
  attemptAt?: string;
  /** Every node had this revision; those that come later get it. */
  complete?: boolean;
  /** The step under way, from 1. */
  step?: number;
  /** Since when every node of this step is settled (RFC 3339); absent: they are not. */
  stepSettledAt?: string;
  nodes?: NodeCounts;
  /** When the next window opens (RFC 3339); absent in one, and without windows. */
  nextWindow?: string;
  /** What the rollout waits for, in one word, such as Window or Approval. Absent: for nothing but nodes. */
  waitsFor?: string;
  /** At most MAX_FAILURES, the oldest first. */
  failures?: NodeFailure[];
  approvals?: Approval[];
  /** Nodes that were touched last. Written before the nodes are, so that two controllers never exceed the limit of nodes in flight. */
  touches?: Touches;
  message?: string;
  conditions?: Condition[];
}

/** On the object that carries a node's assignment: name of the rollout that assigned it. */
export const ROLLOUT_ANNOTATION = 'dkc.dev/rollout';
/** Beside it: when the node was assigned this revision (RFC 3339, to the second). */
export const ASSIGNED_AT_ANNOTATION = 'dkc.dev/rollout-assigned-at';
/** On a revision: its rollout. */
export const ROLLOUT_LABEL = 'dkc.dev/rollout';
/** On a revision: its number, from 1; the one rolled out last has the highest. */
export const REVISION_ANNOTATION = 'dkc.dev/revision';
/** On a revision: `NAMESPACE/NAME:KEY@RV` of the ConfigMap that it is a copy of. */
export const COPY_OF_ANNOTATION = 'dkc.dev/copy-of';

export const MAX_FAILURES = 50;
export const MAX_APPROVALS = 50;

import type { FleetState } from '../fleet/fleet-node.ts';
import type { Approval, Condition, NodeCounts, NodeFailure, Phase } from '../rollout/types.ts';
import type { Window } from '../rollout/windows.ts';

/** Of `/fleet.json` and of the event stream; raised when a member changes its meaning or goes. */
export const FLEET_VERSION = 1;

/** Where a node stands on its way to the revision of the rollout that has it; '' where none has it. */
export type PageStanding = '' | 'no-agent' | 'waiting' | 'in-flight' | 'settled' | 'failed';

/** A node, as `/fleet.json` has it. Text that is not known is ''. Configurations are written `NAMESPACE/NAME:KEY@RV`, or `local`. */
export interface PageNode {
  name: string;
  state: FleetState;
  /** Name of the rollout that has it. */
  rollout: string;
  standing: PageStanding;
  /** Status of the Ready condition. */
  ready: '' | 'True' | 'False';
  cordoned: '' | 'True';
  /** What is done to the node now, of the conditions that say so: the last of MaintenanceInProgress, DrainInProgress, Drained. */
  maintenance: string;
  /** Label topology.kubernetes.io/zone. */
  zone: string;
  /** The first of {@link POOL_LABELS} that the Node has. */
  pool: string;
  kubeletVersion: string;
  agentVersion: string;
  /** What its spec assigns. */
  wanted: string;
  assigned: string;
  active: string;
  lastKnownGood: string;
  /** RFC 3339, while a trial runs. */
  trialEndsAt: string;
  error: string;
  /** Reason of the condition Drifted while it is True: the node runs something else than its agent wrote. */
  drift: string;
}

/** Labels by which node pools are named, in the order in which they are looked for. */
export const POOL_LABELS = [
  'pool',
  'node-pool',
  'karpenter.sh/nodepool',
  'cloud.google.com/gke-nodepool',
  'eks.amazonaws.com/nodegroup',
  'kubernetes.azure.com/agentpool',
] as const;

export interface PageStep {
  /** As spec has it: `10%`. */
  nodes: string;
  /** The same as a number of the nodes selected. */
  target: number;
  /** In ms. */
  holdMs: number;
  approve: boolean;
}

/** Something that happened to a rollout. */
export interface PageEvent {
  /** RFC 3339. */
  at: string;
  kind: 'created' | 'condition' | 'approval' | 'failure' | 'settled';
  text: string;
}

/** A rollout, as `/fleet.json` has it. Of gates it has names and kinds only: what they ask may hold credentials. */
export interface PageRollout {
  name: string;
  phase: Phase | '';
  message: string;
  waitsFor: string;
  /** Why it goes on no further. */
  stopped: string;
  paused: boolean;
  configMap: string;
  revision: string;
  previousRevision: string;
  /** The step under way, from 1; 0 before the first. */
  step: number;
  steps: readonly PageStep[];
  stepSettledAt: string;
  nodes: NodeCounts;
  maxUnavailable: string;
  failureBudget: string;
  onFailure: string;
  drain: string;
  windows: readonly Window[];
  nextWindow: string;
  gates: readonly { name: string; kind: string }[];
  failures: readonly NodeFailure[];
  approvals: readonly Approval[];
  conditions: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime'>[];
  /** Newest first, at most 40. */
  timeline: readonly PageEvent[];
}

/** `/fleet.json`. */
export interface Fleet {
  version: typeof FLEET_VERSION;
  /** RFC 3339. */
  time: string;
  /** By name. */
  nodes: readonly PageNode[];
  /** By name. */
  rollouts: readonly PageRollout[];
}

/** `/fleet/nodes/NAME.json`: what only a close look at a node needs. */
export interface PageNodeDetail {
  version: typeof FLEET_VERSION;
  node: PageNode;
  /** The condition Drifted, while it is True. */
  drift: { reason: string; message: string; since: string } | null;
  /** What is wrong with what the node is assigned: by the rules of its kubelet version, by its rollout, and by its agent. */
  findings: readonly PageFinding[];
  /** What the change under way does to the node, or else what the last one of its rollout did; null: there is nothing to compare. */
  diff: PageDiff | null;
  /** Of the rollout that has it, the newest first, at most 20. */
  revisions: readonly PageRevision[];
  /** Events about the Node, the newest first, at most 50; the API server keeps them for an hour, unless it is told otherwise. */
  history: readonly PageNodeEvent[];
  /** Why there is no history; '' where there is. */
  historyProblem: string;
  /** Of the NodeConfig, and of the Node. */
  conditions: readonly PageCondition[];
}

export interface PageFinding {
  by: 'preflight' | 'rollout' | 'agent';
  text: string;
  /** RFC 3339; '' where it is not known. */
  at: string;
}

/** Fields that differ with the defaults of the node's kubelet version filled in. There are no values. */
export interface PageDiff {
  /** Whether the spec assigns something else than the node uses (pending), or that is what the rollout has changed (last). */
  kind: 'pending' | 'last';
  from: string;
  to: string;
  /** What the change asks of the node. */
  effect: 'none' | 'restart' | 'drain';
  /** At most 100. */
  fields: readonly PageChange[];
  /** Fields beyond these. */
  omitted: number;
  /** Why it cannot be said, where that is so. */
  problem: string;
}

export interface PageChange {
  field: string;
  class: 'safe' | 'needs-drain' | 'dangerous' | 'node-specific';
  change: 'set' | 'changed' | 'removed';
}

export interface PageRevision {
  number: number;
  name: string;
  /** RFC 3339. */
  createdAt: string;
  role: 'current' | 'previous' | '';
  /** What the node does with it: the first of active, assigned and last known good that it is. */
  node: 'active' | 'assigned' | 'last-known-good' | '';
}

export interface PageNodeEvent {
  /** When it happened last. RFC 3339. */
  at: string;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** Who reported it: `dkc-agent`, `rollout-controller`, `kubelet`. */
  by: string;
  count: number;
}

export interface PageCondition {
  of: 'NodeConfig' | 'Node';
  type: string;
  status: string;
  reason: string;
  message: string;
  /** RFC 3339; '' where it is not kept. */
  since: string;
}

/** Why a follower of the event stream was disconnected or not let in. */
export type Dropped = 'slow' | 'full' | 'failed';

/** What the page counts. */
export interface PageMetrics {
  /** A request is answered. @param code - HTTP status */
  answered(code: number): void;
  /** Bytes of bodies, as they go over the wire. */
  sent(bytes: number): void;
  dropped(reason: Dropped): void;
}

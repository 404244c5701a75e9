import type { FleetState } from '../fleet/fleet-node.ts';
import type { Approval, Condition, NodeCounts, NodeFailure, Phase } from '../rollout/types.ts';
import type { Window } from '../rollout/windows.ts';

/** Version of `/fleet.json` and of the event stream; raised when a member is removed or changes its meaning. */
export const FLEET_VERSION = 1;

/** The standing of a node on its way to the revision of its rollout; '' for a node without a rollout. */
export type PageStanding = '' | 'no-agent' | 'waiting' | 'in-flight' | 'settled' | 'failed';

/** A node, as in `/fleet.json`. Unknown text is ''. Configurations are written `NAMESPACE/NAME:KEY@RV`, or `local`. */
export interface PageNode {
  name: string;
  state: FleetState;
  /** Name of the rollout that has the node. */
  rollout: string;
  standing: PageStanding;
  /** Status of the Ready condition. */
  ready: '' | 'True' | 'False';
  cordoned: '' | 'True';
  /** The maintenance of the node now: the last of the conditions MaintenanceInProgress, DrainInProgress, Drained that is True. */
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

/** Labels that name node pools, in order of precedence. */
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
  /** The same as a number of the selected nodes. */
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

/** A rollout, as in `/fleet.json`. Gates have only names and kinds, because their queries may hold credentials. */
export interface PageRollout {
  name: string;
  phase: Phase | '';
  message: string;
  waitsFor: string;
  /** Why the rollout has stopped. */
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

/** `/fleet/nodes/NAME.json`: details of one node. */
export interface PageNodeDetail {
  version: typeof FLEET_VERSION;
  node: PageNode;
  /** The condition Drifted, while it is True. */
  drift: { reason: string; message: string; since: string } | null;
  /** Problems of the assigned configuration: by the rules of the node's kubelet version, by its rollout, and by its agent. */
  findings: readonly PageFinding[];
  /** What the pending change does to the node, or else what the last change of its rollout did; null: there is nothing to compare. */
  diff: PageDiff | null;
  /** Of the node's rollout, the newest first, at most 20. */
  revisions: readonly PageRevision[];
  /** Events about the Node, the newest first, at most 50; the API server keeps them for an hour by default. */
  history: readonly PageNodeEvent[];
  /** Why there is no history; '' when there is. */
  historyProblem: string;
  /** Of the NodeConfig, and of the Node. */
  conditions: readonly PageCondition[];
}

export interface PageFinding {
  by: 'preflight' | 'rollout' | 'agent';
  text: string;
  /** RFC 3339; '' when it is unknown. */
  at: string;
}

/** Fields that differ with the defaults of the node's kubelet version filled in. There are no values. */
export interface PageDiff {
  /** pending: from what the node uses to what its spec assigns; last: the last change of the rollout, which the node uses. */
  kind: 'pending' | 'last';
  from: string;
  to: string;
  /** What the change needs on the node. */
  effect: 'none' | 'restart' | 'drain';
  /** At most 100. */
  fields: readonly PageChange[];
  /** Number of further fields. */
  omitted: number;
  /** Why there is no comparison; '' when there is. */
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
  /** The node's use of the revision: the first that applies of active, assigned and last known good. */
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
  /** RFC 3339; '' when it is not recorded. */
  since: string;
}

/** Why a client of the event stream was disconnected or rejected. */
export type Dropped = 'slow' | 'full' | 'failed';

/** What the page counts. */
export interface PageMetrics {
  /** Called for each answered request. @param code - HTTP status */
  answered(code: number): void;
  /** Bytes of bodies, as they go over the wire. */
  sent(bytes: number): void;
  dropped(reason: Dropped): void;
}

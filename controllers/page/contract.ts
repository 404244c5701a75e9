import type { FleetState } from '../fleet/fleet-node.ts';
import type { Approval, Condition, NodeCounts, NodeFailure, Phase } from '../rollout/types.ts';
import type { Window } from '../rollout/windows/windows.ts';

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
  /** Of the NodeConfig, and of the Node. */
  conditions: readonly PageCondition[];
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

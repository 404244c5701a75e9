import { type MaybeSource, sameSource, type SpecSource } from '../../agent/checkpoint/source.ts';
import { statusErrors } from '../../agent/status/node-config-state.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';

/** The object that carries an assignment: upstream's fields on the Node, or a NodeConfig. null: the API server keeps neither. */
export type Carrier = 'node' | 'nodeconfig' | null;

/** A node as the fleet sees it, whatever object carries its assignment. */
export interface FleetNode {
  node: string;
  /** Of its Node. */
  uid?: string;
  /** Of its NodeConfig; absent where it has none. */
  owners?: readonly OwnerReference[];
  carrier: Carrier;
  /** What its spec assigns; null: local. */
  wanted: SpecSource | null;
  /** Whether an agent (or an old kubelet) has ever reported a config. */
  reports: boolean;
  /** What it reports is about an earlier spec of its NodeConfig. */
  isBehind?: true;
  /** What its agent reports about itself; null: there is no agent. */
  agent: AgentNote | null;
  assigned: MaybeSource;
  active: MaybeSource;
  lastKnownGood: MaybeSource;
  error: string | null;
  /** The Ready condition; null where the kubelet has never reported one. */
  ready: boolean | null;
  /** How the running config differs from what the agent wrote: the reason of the condition Drifted of the NodeConfig, when that is True. */
  drift?: string;
  /** As the kubelet reports it: `v1.30.1`; '' where it has not. */
  kubeletVersion: string;
}

/** What an agent reports about itself, in an annotation of its Node or in the status of its NodeConfig. */
export interface AgentNote {
  version: string;
  /** The running trial; `endsAtMs` (wall clock) is when it ends if all goes well from now on. */
  trial: { endsAtMs: number | null } | null;
}

export function sameSpec(a: SpecSource | null, b: SpecSource | null): boolean {
  if (a === null || b === null) return a === b;
  return a.namespace === b.namespace && a.name === b.name && a.kubeletConfigKey === b.kubeletConfigKey;
}

/** Where a node stands on its way to what its spec assigns. */
const fleetStates = ['trusted', 'trial', 'pending', 'refused', 'condemned', 'fell-back', 'error', 'local', 'no-agent'] as const;
export type FleetState = (typeof fleetStates)[number];

/**
 * no-agent    nothing has ever reported for this node
 * condemned   the config failed its trial, or an admin rolled it back
 * refused     the agent rejected the config before any restart; the previous one still runs
 * fell-back   the assigned config could not be used at boot; another one runs
 * error       the assignment cannot be followed: a ConfigMap that is missing or not readable, a damaged record
 * pending     the spec has changed and the node is on its way
 * trial       it runs what the spec assigns and has not proved it yet
 */
export function fleetState(node: FleetNode): FleetState {
  if (!node.reports && node.agent === null) return 'no-agent';
  if (node.isBehind) return 'pending';
  if (node.error !== null) return failedState(node, node.error);
  if (!sameSpec(node.wanted, node.assigned) || !sameSource(node.assigned, node.active)) return 'pending';
  if (node.wanted === null) return 'local';
  return sameSource(node.assigned, node.lastKnownGood) ? 'trusted' : 'trial';
}

function failedState(node: FleetNode, error: string): FleetState {
  switch (error) {
    case statusErrors.failedTrial:
    case statusErrors.rolledBack:
      return 'condemned';
    case statusErrors.load:
    case statusErrors.validate:
      // A rejected config is never recorded as assigned, so the assigned one still runs.
      return sameSource(node.assigned, node.active) ? 'refused' : 'fell-back';
    default:
      return 'error';
  }
}

/** A state that an agent leaves only after another assignment or a request to retry; other errors may pass. No agent rejects its local config. */
export const isVerdict = (state: FleetState): boolean => state === 'refused' || state === 'condemned' || state === 'fell-back';

/** Whether `dkc nodes --check` accepts the state. */
export const isSettled = (state: FleetState): boolean => state === 'trusted' || state === 'local';

/** The source in the spec, with the uid and resourceVersion that the node reports for it; null: not reported. */
export interface AssignedSource extends SpecSource {
  uid: string | null;
  resourceVersion: string | null;
}

export function assignedSource({ wanted, assigned }: FleetNode): AssignedSource | null {
  if (wanted === null) return null;
  const known = sameSpec(wanted, assigned) ? assigned : null;
  const { namespace, name, kubeletConfigKey } = wanted;
  return { namespace, name, uid: known?.uid ?? null, resourceVersion: known?.resourceVersion ?? null, kubeletConfigKey };
}

/** The NodeConfig of a node. Its owner is the Node: it is deleted with it. */
export function newNodeConfig(node: FleetNode, configMap: SpecSource | null): KubeObject {
  const owner = ownerOf(node);
  return {
    apiVersion: `${nodeConfigs.group}/${nodeConfigs.version}`,
    kind: nodeConfigs.kind,
    metadata: { name: node.node, ...(owner ? { ownerReferences: [owner] } : {}) },
    spec: configMap === null ? {} : { configMap },
  };
}

/** Makes the Node an owner of a NodeConfig that somebody else created, or that an earlier Node of this name owned. */
export function ownerPatch(node: FleetNode): { metadata?: { ownerReferences: OwnerReference[] } } {
  const { owners = [] } = node;
  const owner = ownerOf(node);
  if (!owner || owners.some(({ uid }) => uid === owner.uid)) return {};
  const others = owners.filter(({ kind, name }) => kind !== owner.kind || name !== owner.name);
  return { metadata: { ownerReferences: [...others, owner] } };
}

function ownerOf({ node, uid }: FleetNode): OwnerReference | undefined {
  return uid === undefined ? undefined : { apiVersion: 'v1', kind: 'Node', name: node, uid };
}

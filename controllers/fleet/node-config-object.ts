import { nodeConfigs } from '../../agent/status/node-config.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { FleetNode } from './fleet-node.ts';

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

import type { NodeSelector, Taint } from 'kubernetes-types/core/v1.js';
import { matchesNodeAffinity, matchesNodeSelector } from '../../../kube/api/node-selector.ts';
import { firstUntolerated, refusingEffects } from '../../../kube/api/taints.ts';
import { nodeDeclaredFeatures as rejectionForFeatures, requiredFeatures } from '../../plugins/node-declared-features.ts';
import type { PodInfo } from '../../pod/pod-info.ts';
import type { Node } from '../../types.ts';
import type { Hint } from '../contract.ts';
import { portsConflict } from '../../../kube/api/pod-requests.ts';
import type { ClusterEvent } from '../../cluster-event.ts';

/* Plugins that look at a node's own object and at no pod but the one to be placed. */

const cordon: readonly Taint[] = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];

export const nodeName: Hint = ({ nodeName }, event) =>
  event.kind === 'node-added' && (nodeName === '' || nodeName === event.after.metadata.name);

export const nodeUnschedulable: Hint = ({ pod }, event) =>
  nodeComesToPass(
    event,
    ({ spec }) => spec?.unschedulable !== true || firstUntolerated(cordon, pod.spec?.tolerations, refusingEffects) === undefined,
  );

export const taintToleration: Hint = (info, event) => nodeComesToPass(event, (node) => toleratesNode(info, node));

/** @param added - what the scheduler itself asks of every node */
export function nodeAffinity(added: (schedulerName: string) => NodeSelector | undefined): Hint {
  return (info, event) =>
    nodeComesToPass(event, (node) => matchesNodeAffinity(added(info.schedulerName), node.metadata) && selectsNode(info, node));
}

export function toleratesNode({ pod }: PodInfo, { spec }: Readonly<Node>): boolean {
  return firstUntolerated(spec?.taints, pod.spec?.tolerations, refusingEffects) === undefined;
}

/** Whether the pod's own node selector and required affinity want this node. */
export function selectsNode({ pod: { spec } }: PodInfo, { metadata }: Readonly<Node>): boolean {
  return (
    matchesNodeSelector(spec?.nodeSelector, metadata.labels) === undefined &&
    matchesNodeAffinity(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, metadata)
  );
}

export const nodePorts: Hint = ({ ports }, event) => {
  if (event.kind === 'node-added') return true;
  return event.kind === 'assigned-pod-deleted' && ports.some((port) => event.before.ports.some((freed) => portsConflict(port, freed)));
};

export const nodeDeclaredFeatures: Hint = ({ pod }, event) =>
  nodeComesToPass(event, (node) => rejectionForFeatures(requiredFeatures(pod.spec), node) === undefined);

/** A pod waits for devices of a class; a node that has them from a device plugin serves it as well. Resource claims it cannot serve. */
export const devicesOnNodes: Hint = ({ pod, requests }, event) => {
  if ('resourceClaims' in (pod.spec ?? {})) return false;
  const has = ({ status }: Readonly<Node>, resource: string): boolean => !['0', undefined].includes(status?.allocatable?.[resource]);
  return nodeComesToPass(event, (node) => [...requests.scalars.keys()].some((resource) => has(node, resource)));
};

/** Whether a node passes now that did not before, or was not there. */
export function nodeComesToPass(event: ClusterEvent, passes: (node: Readonly<Node>) => boolean): boolean {
  if (event.kind === 'node-added') return passes(event.after);
  return event.kind === 'node-updated' && passes(event.after) && !passes(event.before);
}

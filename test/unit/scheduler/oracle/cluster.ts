import type { ReplicationController } from 'kubernetes-types/core/v1.js';
import type { Kube } from '../../../../kube/api/object.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Budget, Namespace, Node, Pod, ReplicaSet, Service, StatefulSet } from '../../../../scheduler/types.ts';

/*
 * The oracle: what a scheduler must answer, worked out from lists of raw objects, all of it anew at each question. Nothing is remembered, indexed or shared
 * between two nodes, so that there is nothing to go stale: it is as slow as it is plain.
 */

/** Objects as an API server has them. Never changed: what is different is another object. */
export interface OracleCluster {
  /** In the cluster's order, which decides between candidates that nothing else tells apart. */
  readonly nodes: readonly Node[];
  /** Those with a node name, also when that node is gone. */
  readonly pods: readonly Pod[];
  /** Who is promised a place where: nominated pods, and room that is kept. */
  readonly nominated: readonly { readonly pod: Pod; readonly node: string }[];
  readonly namespaces: readonly Namespace[];
  readonly services: readonly Service[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly replicationControllers: readonly Kube<ReplicationController>[];
  readonly statefulSets: readonly StatefulSet[];
  readonly budgets: readonly Budget[];
}

export type Labels = Readonly<Record<string, string>>;

/** A node with what is on it. */
export interface Place {
  readonly name: string;
  readonly node: Node;
  readonly labels: Labels;
  readonly pods: readonly PodInfo[];
}

/** A cluster, perhaps with other pods than it has. */
export interface World {
  readonly cluster: OracleCluster;
  readonly places: readonly Place[];
}

export interface Change {
  /** Pods that are taken away, by uid. */
  readonly without?: ReadonlySet<string>;
  /** Pods that are added, to one node. */
  readonly plus?: { readonly node: string; readonly pods: readonly PodInfo[] };
}

export const emptyCluster: OracleCluster = {
  nodes: [],
  pods: [],
  nominated: [],
  namespaces: [],
  services: [],
  replicaSets: [],
  replicationControllers: [],
  statefulSets: [],
  budgets: [],
};

/** Pods that ended take no room and count nowhere; nor do pods of nodes that are gone. Those on their way out are still there. */
export function worldOf(cluster: OracleCluster, { without, plus }: Change = {}): World {
  const there = cluster.pods.filter((pod) => !hasEnded(pod) && !without?.has(pod.metadata.uid ?? '')).map(podInfoOf);
  const places = cluster.nodes.map((node): Place => {
    const name = node.metadata.name ?? '';
    const own = there.filter(({ nodeName }) => nodeName === name);
    return { name, node, labels: node.metadata.labels ?? {}, pods: plus?.node === name ? [...own, ...plus.pods] : own };
  });
  return { cluster, places };
}

export function placeCalled(world: World, name: string): Place {
  const place = world.places.find((place) => place.name === name);
  if (place === undefined) throw new RangeError(`there is no node "${name}"`);
  return place;
}

export function namespaceLabels({ cluster }: World, namespace: string): Labels {
  return cluster.namespaces.find(({ metadata }) => metadata.name === namespace)?.metadata.labels ?? {};
}

export function labelOf({ labels }: Place, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

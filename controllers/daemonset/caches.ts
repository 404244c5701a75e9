import { controllerRevisions, daemonSets, nodes, pods } from '../../kube/api/resources.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import type { Revision } from '../common/history/contract.ts';
import { BY_OWNER, byOwner, orphanValue } from '../common/owner-index.ts';
import type { DaemonSetOptions, DaemonSet, Node, Pod } from './types.ts';
import { targetNode } from './pods.ts';

export interface Caches {
  sets: Informer<DaemonSet>;
  pods: Informer<Pod>;
  nodes: Informer<Node>;
  revisions: Informer<Revision>;
}

/** Pods of sets by set and node; orphans by namespace. */
export const BY_NODE = 'daemonset-node';
/** Pods by the node they are on, of any owner. */
export const ON_NODE = 'node-name';

export const nodeValue = (uid: string, node: string | undefined): string => `${uid}/${node ?? ''}`;

const podFields = [
  'metadata.creationTimestamp',
  'spec.nodeName',
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.matchFields',
  'status.phase',
  'status.reason',
  'status.conditions.type',
  'status.conditions.status',
  'status.conditions.reason',
  'status.conditions.lastTransitionTime',
];
/** For those who have to find room by themselves. */
const roomFields = [
  'spec.hostNetwork',
  'spec.overhead',
  'spec.containers.resources.requests',
  'spec.containers.ports',
  'spec.initContainers.resources.requests',
  'spec.initContainers.restartPolicy',
];

/** Says which caches the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { placement, namespace, objectSelector }: DaemonSetOptions): Caches {
  const within = namespace === undefined ? {} : { namespace };
  const selected = objectSelector === undefined ? {} : { labelSelector: objectSelector };
  const places = placement === 'controller';
  return {
    sets: informers.of<DaemonSet>(daemonSets, { fields: 'all' }, { ...within, ...selected }),
    pods: informers.of<Pod>(
      pods,
      {
        fields: places ? [...podFields, ...roomFields] : podFields,
        indexes: { [BY_NODE]: bySetAndNode, ...(places ? { [ON_NODE]: ({ spec }: Readonly<Pod>) => [spec?.nodeName ?? ''] } : {}) },
      },
      // A controller that places pods has to know all pods of each node.
      places ? {} : within,
    ),
    nodes: informers.of<Node>(nodes, {
      fields: ['spec.taints', ...(places ? ['status.allocatable', 'status.conditions.type', 'status.conditions.status'] : [])],
    }),
    revisions: informers.of<Revision>(controllerRevisions, { fields: 'all', indexes: { [BY_OWNER]: byOwner } }, within),
  };
}

export function bySetAndNode(pod: Readonly<Pod>): string[] {
  const owner = controllerOf(pod);
  if (owner === undefined) return [orphanValue(pod.metadata.namespace ?? '')];
  return owner.kind === daemonSets.kind ? [nodeValue(owner.uid, targetNode(pod))] : [];
}

import { controllerRevisions, persistentVolumeClaims, pods, statefulSets, storageClasses } from '../../kube/api/resources.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import type { Revision } from '../common/history/contract.ts';
import { BY_OWNER, byOwner } from '../common/owner-index.ts';
import type { StatefulSetOptions, Pvc, Pod, StatefulSet, StorageClass } from './types.ts';

export interface Caches {
  sets: Informer<StatefulSet>;
  pods: Informer<Pod>;
  pvcs: Informer<Pvc>;
  revisions: Informer<Revision>;
  /** For claims that are to grow. */
  classes: Informer<StorageClass>;
}

/** Pods by the set that owns them, orphans by namespace: without those of all other owners, which are most of a cluster. */
export const BY_SET = 'statefulset';

const podFields = [
  'metadata.creationTimestamp',
  'spec.nodeName',
  'spec.volumes.name',
  'spec.volumes.persistentVolumeClaim',
  'status.phase',
  'status.reason',
];
const conditions = ['type', 'status', 'reason', 'lastTransitionTime'].map((field) => `status.conditions.${field}`);

/** Says which caches the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { namespace, objectSelector }: StatefulSetOptions): Caches {
  const within = namespace === undefined ? {} : { namespace };
  const selected = objectSelector === undefined ? {} : { labelSelector: objectSelector };
  return {
    sets: informers.of<StatefulSet>(statefulSets, { fields: 'all' }, { ...within, ...selected }),
    pods: informers.of<Pod>(pods, { fields: [...podFields, ...conditions], indexes: { [BY_SET]: bySet } }, within),
    // Whole: they are written back.
    pvcs: informers.of<Pvc>(persistentVolumeClaims, { fields: 'all' }, within),
    revisions: informers.of<Revision>(controllerRevisions, { fields: 'all', indexes: { [BY_OWNER]: byOwner } }, within),
    classes: informers.of<StorageClass>(storageClasses, { fields: ['metadata.annotations', 'allowVolumeExpansion'] }),
  };
}

function bySet(pod: Readonly<Pod>): string[] {
  const owner = controllerOf(pod);
  return owner === undefined || owner.kind === statefulSets.kind ? byOwner(pod) : [];
}

import type { DaemonSet as DaemonSetFields, StatefulSet as StatefulSetFields } from 'kubernetes-types/apps/v1.js';
import type { Node as NodeFields, PersistentVolumeClaim, Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { StorageClass as StorageClassFields } from 'kubernetes-types/storage/v1.js';
import type { Kube } from '../../kube/api/object.ts';

export type DaemonSet = Kube<DaemonSetFields>;
export type StatefulSet = Kube<StatefulSetFields>;
export type Pod = Kube<PodFields>;
export type PodTemplate = PodTemplateSpec;
export type Node = Kube<NodeFields>;
export type Pvc = Kube<PersistentVolumeClaim>;
export type StorageClass = Kube<StorageClassFields>;

/** Who chooses the node of a DaemonSet's pod: the cluster's scheduler (the pod is pinned by node affinity), or this controller (by `spec.nodeName`). */
export type Placement = 'scheduler' | 'controller';

interface SetOptions {
  /** Sets reconciled at once. @default 5 */
  workers?: number;
  /** Only sets and their objects in this namespace. @default all */
  namespace?: string;
  /** Label selector: sets that do not match are left to another controller. @default all */
  objectSelector?: string;
}

export type StatefulSetOptions = SetOptions;

export interface DaemonSetOptions extends SetOptions {
  /** @default 'scheduler' */
  placement?: Placement;
}

import type { StatefulSet as StatefulSetFields } from 'kubernetes-types/apps/v1.js';
import type { PersistentVolumeClaim, Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { StorageClass as StorageClassFields } from 'kubernetes-types/storage/v1.js';
import type { Kube } from '../../kube/api/object.ts';

export type StatefulSet = Kube<StatefulSetFields>;
export type Pod = Kube<PodFields>;
/** What a pod has storage by. */
export type Pvc = Kube<PersistentVolumeClaim>;
export type StorageClass = Kube<StorageClassFields>;
export type PodTemplate = PodTemplateSpec;

export interface StatefulSetOptions {
  /** Sets reconciled at once. @default 5 */
  workers?: number;
  /** Sets, pods and claims of this namespace alone. @default all */
  namespace?: string;
  /** Label selector: sets that do not match are somebody else's. @default all */
  objectSelector?: string;
}

import type {
  ControllerRevision as RawRevision,
  DaemonSet as RawDaemonSet,
  ReplicaSet as RawReplicaSet,
  StatefulSet as RawStatefulSet,
} from 'kubernetes-types/apps/v1.js';
import type {
  Namespace as RawNamespace,
  Node as RawNode,
  PersistentVolume as RawVolume,
  PersistentVolumeClaim as RawClaim,
  Pod as RawPod,
  Service as RawService,
} from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget as RawBudget } from 'kubernetes-types/policy/v1.js';
import type {
  CSIDriver as RawDriver,
  CSINode as RawCsiNode,
  CSIStorageCapacity as RawCapacity,
  StorageClass as RawStorageClass,
  VolumeAttachment as RawAttachment,
} from 'kubernetes-types/storage/v1.js';
import type { KubeObject } from '../kube/api/object.ts';
import type { Kube } from '../kube/api/resources.ts';

/* Objects as the caches hold them. */

export type Pod = Kube<RawPod>;
export type Node = Kube<RawNode>;
export type Namespace = Kube<RawNamespace>;
export type Service = Kube<RawService>;
export type Claim = Kube<RawClaim>;
export type Volume = Kube<RawVolume>;
export type ReplicaSet = Kube<RawReplicaSet>;
export type ControllerRevision = Kube<RawRevision>;
export type DaemonSet = Kube<RawDaemonSet>;
export type StatefulSet = Kube<RawStatefulSet>;
export type Budget = Kube<RawBudget>;
export type StorageClass = Kube<RawStorageClass>;
export type CsiNode = Kube<RawCsiNode>;
export type CsiDriver = Kube<RawDriver> & {
  /** From 1.37 on: pods with volumes of the driver go only where it is installed. */
  readonly spec?: { readonly preventPodSchedulingIfMissing?: boolean };
};
/** Of dynamic resource allocation. */
export interface DeviceClass extends KubeObject {
  readonly spec?: { readonly extendedResourceName?: string };
}
export type CsiCapacity = Kube<RawCapacity>;
export type VolumeAttachment = Kube<RawAttachment>;

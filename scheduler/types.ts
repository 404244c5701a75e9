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
import type { Kube, KubeObject } from '../kube/api/object.ts';
import type { PodInfo } from './pod/pod-info.ts';

/* Objects as the caches hold them. */

export type Pod = Kube<RawPod>;
export type Node = Kube<RawNode>;
export type Namespace = Kube<RawNamespace>;
export type Service = Kube<RawService>;
export type Claim = Kube<RawClaim>;
export type PersistentVolume = Kube<RawVolume>;
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

/** Parts of a node that scheduling depends on. A heartbeat changes none of them. */
export type NodeAspect = 'allocatable' | 'labels' | 'taints' | 'conditions' | 'annotations' | 'features';

/** Kinds whose objects matter only to pods with volumes. */
export interface StorageObjects {
  PersistentVolumeClaim: Claim;
  PersistentVolume: PersistentVolume;
  StorageClass: StorageClass;
  CSINode: CsiNode;
  CSIDriver: CsiDriver;
  CSIStorageCapacity: CsiCapacity;
  VolumeAttachment: VolumeAttachment;
}

/** A change in the cluster that may help a rejected pod. The informer caches already show it. */
export type ClusterEvent =
  /** A pod was assigned to a node, by any scheduler. */
  | { kind: 'assigned-pod-added'; after: PodInfo }
  | { kind: 'assigned-pod-updated'; before: PodInfo; after: PodInfo }
  /** Also when capacity that was held for a pod is free again: `before` is that pod. */
  | { kind: 'assigned-pod-deleted'; before: PodInfo }
  | { kind: 'node-added'; after: Readonly<Node> }
  | { kind: 'node-updated'; before: Readonly<Node>; after: Readonly<Node>; changed: ReadonlySet<NodeAspect> }
  | { kind: 'node-deleted'; before: Readonly<Node> }
  | { kind: 'namespace-changed'; before: Readonly<Namespace> | undefined; after: Readonly<Namespace> }
  /** `before` undefined: added; `after` undefined: deleted. */
  | {
      [K in keyof StorageObjects]: {
        kind: 'storage-changed';
        of: K;
        before: Readonly<StorageObjects[K]> | undefined;
        after: Readonly<StorageObjects[K]> | undefined;
      };
    }[keyof StorageObjects];

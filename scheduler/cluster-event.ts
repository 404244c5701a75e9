import type { PodInfo } from './pod/pod-info.ts';
import type { Claim, CsiCapacity, CsiDriver, CsiNode, Namespace, Node, StorageClass, Volume, VolumeAttachment } from './types.ts';

/** What of a node can be different, as far as pods care. A heartbeat changes nothing of these. */
export type NodeAspect = 'allocatable' | 'labels' | 'taints' | 'conditions' | 'annotations' | 'features';

/** Kinds whose objects matter to pods with volumes alone. */
export interface StorageObjects {
  PersistentVolumeClaim: Claim;
  PersistentVolume: Volume;
  StorageClass: StorageClass;
  CSINode: CsiNode;
  CSIDriver: CsiDriver;
  CSIStorageCapacity: CsiCapacity;
  VolumeAttachment: VolumeAttachment;
}

/** Something in the cluster is other than it was: it may help a pod that was refused. The cache has it already. */
export type ClusterEvent =
  /** A pod came to a node, by whomever it was put there. */
  | { kind: 'assigned-pod-added'; after: PodInfo }
  | { kind: 'assigned-pod-updated'; before: PodInfo; after: PodInfo }
  /** Also when room that was kept for a pod is free again: `before` is who it was kept for. */
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

import type {
  Claim,
  ClusterEvent,
  CsiCapacity,
  CsiDriver,
  CsiNode,
  Node,
  PersistentVolume,
  StorageClass,
  VolumeAttachment,
} from '../types.ts';
import type { ShapePoint } from '../config/config.ts';
import type { Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** The cached storage objects, including decisions that are not written yet (see {@link VolumeDecision}). */
export interface StorageView {
  claim(namespace: string, name: string): Readonly<Claim> | undefined;
  volume(name: string): Readonly<PersistentVolume> | undefined;
  /** All volumes that belong to this class; '' is a class as well. */
  volumesOfClass(name: string): readonly Readonly<PersistentVolume>[];
  storageClass(name: string): Readonly<StorageClass> | undefined;
  csiNode(node: string): Readonly<CsiNode> | undefined;
  csiDriver(name: string): Readonly<CsiDriver> | undefined;
  capacities(storageClass: string): readonly Readonly<CsiCapacity>[];
  /** Volumes that are attached to a node, or are being attached to it, or detached from it. */
  attachedTo(node: string): readonly Readonly<VolumeAttachment>[];
  /** Pods on nodes that use this claim, with their nodes. */
  usersOf(namespace: string, claim: string): readonly ClaimUser[];
}

export interface ClaimUser {
  readonly pod: PodInfo;
  readonly node: string;
}

/** A node and its pods, as the volume filters read them. */
export interface NodeInfo {
  readonly node: Readonly<Node>;
  /** Pods on it, without those removed in a preemption trial. */
  readonly pods: readonly PodInfo[];
}

/** A claim that has its volume. */
export interface BoundClaim {
  readonly claim: Readonly<Claim>;
  /** undefined: the volume was deleted. */
  readonly volume: Readonly<PersistentVolume> | undefined;
}

/** A claim with `WaitForFirstConsumer`: its volume is bound or provisioned for the node of its first pod. */
export interface DelayedClaim {
  readonly claim: Readonly<Claim>;
  readonly class: Readonly<StorageClass>;
  /** The node for which a volume is already being provisioned. */
  readonly selectedNode: string | undefined;
  /** Existing volumes. */
  readonly candidates: Candidates;
}

/** Volumes that could serve a claim. */
export interface Candidates {
  /** Volumes for a node with these labels, in order of preference: all that are accessible from the node, and perhaps others. */
  near(labels: Readonly<Record<string, string>>): Iterable<Readonly<PersistentVolume>>;
  /** The volume that is reserved for the claim, which then gets no other. */
  readonly reserved: Readonly<PersistentVolume> | undefined;
}

/** A volume that a CSI driver attaches to nodes. */
export interface Attachment {
  readonly driver: string;
  /** Unique for the driver. */
  readonly handle: string;
}

/** A disk that a pod uses without a claim, of a kind that two pods on a node may not both write to. */
export interface Disk {
  /** Disks of other kinds never conflict. */
  readonly kind: 'gce' | 'ebs' | 'iscsi' | 'rbd';
  /** Disks of the same {@link Disk.kind} with a name in common are the same disk. */
  readonly names: readonly string[];
  /** Two read-only uses do not conflict. */
  readonly readOnly: boolean;
}

/**
 * Storage requirements of a pod, read once for an attempt: any change of the view outdates them. For another pod with the same
 * {@link VolumeRules.key} they are valid with `pod` replaced by that pod.
 */
export interface VolumeNeeds {
  readonly pod: PodInfo;
  /** All claims, in the order of the pod's volumes, each once. */
  readonly claims: readonly Readonly<Claim>[];
  /** The first claim that does not exist: only in a profile whose plugins have not rejected the pod for it. */
  readonly missing: string | undefined;
  readonly bound: readonly BoundClaim[];
  /** By size, the smallest first, so that larger volumes are left for larger claims. */
  readonly delayed: readonly DelayedClaim[];
  /** Claims that no other pod may use at the same time. */
  readonly exclusive: readonly Readonly<Claim>[];
  readonly attachments: readonly Attachment[];
  readonly disks: readonly Disk[];
}

/** What must be written before a pod can be bound to its node. */
export interface VolumeDecision {
  /** Volumes to be reserved for claims (`spec.claimRef`). */
  readonly reserve: readonly { volume: Readonly<PersistentVolume>; claim: Readonly<Claim> }[];
  /** Claims to be provisioned for the node (annotation `volume.kubernetes.io/selected-node`). */
  readonly provision: readonly { claim: Readonly<Claim>; node: string }[];
}

/** The decisions of the four volume plugins. Pure, over a view. */
export interface VolumeRules {
  /** Pods with the same key have the same storage requirements. '' for a pod without volumes that matter. */
  key(pod: PodInfo): string;
  /** @returns undefined for a pod without volumes that matter; a rejection if no node can help @param disabled - plugins to skip */
  needs(pod: PodInfo, view: StorageView, disabled?: ReadonlySet<string>): VolumeNeeds | Rejection | undefined;
  /** VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, in this order: the first rejection. @param disabled - plugins to skip */
  filter(needs: VolumeNeeds, on: NodeInfo, view: StorageView, disabled?: ReadonlySet<string>): Rejection | undefined;
  /** VolumeBinding's points for a node that passes {@link filter}, 0 to `max`. @param shape - by rising utilization, at least one point */
  score(needs: VolumeNeeds, node: Readonly<Node>, view: StorageView, shape: readonly ShapePoint[], max: number): number;
  /** For a node that passes {@link filter}. */
  decide(needs: VolumeNeeds, on: NodeInfo, view: StorageView): VolumeDecision;
}

/** A view in which decisions count before they are written. */
export interface AssumingView extends StorageView {
  /** @param holder - the pod's UID; several pods may hold the same assumption */
  assume(holder: string, decision: VolumeDecision): void;
  /** Drops the assumptions of this holder, except those that another holder shares. Idempotent. @returns events for objects that are free again */
  forget(holder: string): readonly ClusterEvent[];
}

import type { Claim, ClusterEvent, CsiCapacity, CsiDriver, CsiNode, Node, StorageClass, Volume, VolumeAttachment } from '../types.ts';
import type { ShapePoint } from '../config/config.ts';
import type { Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** What the caches know of storage. Decisions that are not written yet (see {@link VolumeDecision}) are in it already. */
export interface StorageView {
  claim(namespace: string, name: string): Readonly<Claim> | undefined;
  volume(name: string): Readonly<Volume> | undefined;
  /** All volumes that belong to this class; '' is a class as well. */
  volumesOfClass(name: string): readonly Readonly<Volume>[];
  storageClass(name: string): Readonly<StorageClass> | undefined;
  csiNode(node: string): Readonly<CsiNode> | undefined;
  csiDriver(name: string): Readonly<CsiDriver> | undefined;
  capacities(storageClass: string): readonly Readonly<CsiCapacity>[];
  /** Volumes that are attached to a node, or are being attached to it, or detached from it. */
  attachedTo(node: string): readonly Readonly<VolumeAttachment>[];
  /** Pods on nodes that use this claim, and on which. */
  usersOf(namespace: string, claim: string): readonly ClaimUser[];
}

export interface ClaimUser {
  readonly pod: PodInfo;
  readonly node: string;
}

/** A node, as far as volumes care. */
export interface VolumeNode {
  readonly node: Readonly<Node>;
  /** Pods on it, without those removed in a preemption trial. */
  readonly pods: readonly PodInfo[];
}

/** A claim that has its volume. */
export interface BoundClaim {
  readonly claim: Readonly<Claim>;
  /** undefined: the volume was deleted. */
  readonly volume: Readonly<Volume> | undefined;
}

/** A claim with `WaitForFirstConsumer`: its volume is bound or provisioned for the node of its first pod. */
export interface DelayedClaim {
  readonly claim: Readonly<Claim>;
  readonly class: Readonly<StorageClass>;
  /** The node for which a volume is being made already. */
  readonly selectedNode: string | undefined;
  /** Volumes that are there already. */
  readonly candidates: Candidates;
}

/** Volumes that could serve a claim. */
export interface Candidates {
  /** For a node with these labels: all that it reaches, and perhaps others, in the order to take them. */
  near(labels: Readonly<Record<string, string>>): Iterable<Readonly<Volume>>;
  /** The one that is reserved for the claim: it gets no other. */
  readonly reserved: Readonly<Volume> | undefined;
}

/** A volume that a CSI driver attaches to nodes. */
export interface Attachment {
  readonly driver: string;
  /** Unique for the driver. */
  readonly handle: string;
}

/** A disk that a pod names itself, of those kinds that two pods on a node may not both write to. */
export interface Disk {
  /** Disks of other kinds never conflict. */
  readonly kind: 'gce' | 'ebs' | 'iscsi' | 'rbd';
  /** What has one of these in common (with the same {@link Disk.kind}) is the same disk. */
  readonly names: readonly string[];
  /** Readers do not disturb each other. */
  readonly readOnly: boolean;
}

/**
 * What a pod wants of storage, read once for an attempt: any change of the view makes it old. For another pod with the same
 * {@link VolumeRules.key} it is right with that one as its `pod`.
 */
export interface VolumeNeeds {
  readonly pod: PodInfo;
  /** All of them, in the order of the pod's volumes, each once. */
  readonly claims: readonly Readonly<Claim>[];
  /** The first claim that is not there: in a profile that lets such a pod come so far. */
  readonly missing: string | undefined;
  readonly bound: readonly BoundClaim[];
  /** By size, the smallest first: the others then still find theirs. */
  readonly delayed: readonly DelayedClaim[];
  /** Claims that no other pod may use at the same time. */
  readonly exclusive: readonly Readonly<Claim>[];
  readonly attachments: readonly Attachment[];
  readonly disks: readonly Disk[];
}

/** What has to be true before a pod can be bound to its node. */
export interface VolumeDecision {
  /** Volumes to be reserved for claims (`spec.claimRef`). */
  readonly reserve: readonly { volume: Readonly<Volume>; claim: Readonly<Claim> }[];
  /** Claims to be provisioned for the node (annotation `volume.kubernetes.io/selected-node`). */
  readonly provision: readonly { claim: Readonly<Claim>; node: string }[];
}

/** The decisions of the four volume plugins. Pure, over a view. */
export interface VolumeRules {
  /** Pods with the same key want the same of storage. '' for a pod without volumes that matter. */
  key(pod: PodInfo): string;
  /** @returns undefined for a pod without volumes that matter; a rejection where no node can help @param disabled - plugins not to ask */
  needs(pod: PodInfo, view: StorageView, disabled?: ReadonlySet<string>): VolumeNeeds | Rejection | undefined;
  /** VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, in this order: the first rejection. @param disabled - plugins not to ask */
  filter(needs: VolumeNeeds, on: VolumeNode, view: StorageView, disabled?: ReadonlySet<string>): Rejection | undefined;
  /** VolumeBinding's points for a node that {@link filter} lets pass, 0 to `max`. @param shape - by rising utilization, at least one point */
  score(needs: VolumeNeeds, node: Readonly<Node>, view: StorageView, shape: readonly ShapePoint[], max: number): number;
  /** For a node that {@link filter} lets pass. */
  decide(needs: VolumeNeeds, on: VolumeNode, view: StorageView): VolumeDecision;
}

/** A view in which decisions count before they are written. */
export interface AssumingView extends StorageView {
  /** @param holder - the pod's uid; several pods may have decided the same */
  assume(holder: string, decision: VolumeDecision): void;
  /** What it assumed counts no longer, as far as no one else assumes it too. Twice is harmless. @returns what others may use again */
  forget(holder: string): readonly ClusterEvent[];
}

/** Sees to it that what was decided comes true. */
export interface VolumeBinder {
  /** From now on the decision counts for everybody. Synchronous. */
  reserve(pod: PodInfo, decision: VolumeDecision): void;
  /** It is not going to be. What was written stays so: claims of a node that failed are given back by their provisioner. */
  unreserve(pod: PodInfo): void;
  /**
   * Writes the decision and waits until all its claims are bound to volumes that the node reaches. At once where nothing was decided.
   * @throws ActionError where it cannot be, also for lack of time, and the signal's reason; then it is unreserved already
   */
  preBind(pod: PodInfo, node: string, decision: VolumeDecision, signal: AbortSignal): Promise<void>;
}

import type { NodeSelectorTerm, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Claim, CsiCapacity, CsiDriver, CsiNode, PersistentVolume, StorageClass, VolumeAttachment } from '../../../../scheduler/types.ts'; // prettier-ignore
import type { StorageView } from '../../../../scheduler/volumes/contract.ts';
import { usesClaim } from '../../../../scheduler/volumes/pod-volumes.ts';
import { Builder, pod, type PodBuilder } from '../builders.ts';

/*
 * Storage of a scheduler's tests in one line: `claim('data').class('fast').asks('1Gi').to('pv-1').build()`.
 */

/** What claims and volumes have in common. */
class StorageBuilder<T extends Claim | PersistentVolume> extends Builder<T> {
  readonly class = (storageClassName: string): this => this.#spec({ storageClassName });
  readonly modes = (...accessModes: string[]): this => this.#spec({ accessModes });
  readonly phase = (phase: string): this => this.status({ phase });
  readonly deleted = (): this => this.metadata({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  #spec(more: object): this {
    return this.with(this.build().spec, more);
  }
}

export class ClaimBuilder extends StorageBuilder<Claim> {
  constructor(name: string) {
    super({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', annotations: {} },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Pending' },
    });
  }

  readonly asks = (storage: string): this => this.spec({ resources: { requests: { storage } } });
  /** Bound, for good. */
  readonly to = (volumeName: string): this => this.phase('Bound').spec({ volumeName }).annotated('pv.kubernetes.io/bind-completed', 'yes');
  readonly uid = (uid: string): this => this.metadata({ uid });
  readonly annotated = (name: string, value: string): this =>
    this.metadata({ annotations: { ...this.build().metadata.annotations, [name]: value } });
  /** A volume is being made for it. */
  readonly madeFor = (node: string): this => this.annotated('volume.kubernetes.io/selected-node', node);
  readonly ownedBy = (uid: string): this =>
    this.metadata({ ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true }] });
}

export class VolumeBuilder extends StorageBuilder<PersistentVolume> {
  constructor(name: string) {
    super({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels: {} },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
      status: { phase: 'Available' },
    });
  }

  readonly size = (storage: string): this => this.spec({ capacity: { storage } });
  readonly labels = (labels: Record<string, string>): this => this.metadata({ labels: { ...this.build().metadata.labels, ...labels } });
  readonly reachedBy = (...nodeSelectorTerms: NodeSelectorTerm[]): this => this.spec({ nodeAffinity: { required: { nodeSelectorTerms } } });
  /** On the disk of this machine. */
  readonly local = (host: string): this =>
    this.reachedBy({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] });
  readonly csi = (driver: string, volumeHandle: string): this => this.spec({ csi: { driver, volumeHandle } });
  /** Reserved for this claim. */
  readonly for = (name: string, uid?: string): this =>
    this.spec({ claimRef: { namespace: 'default', name, ...(uid === undefined ? {} : { uid }) } });
}

export const claim = (name: string): ClaimBuilder => new ClaimBuilder(name);
export const volume = (name: string): VolumeBuilder => new VolumeBuilder(name);

export function storageClass(name: string, more: Partial<StorageClass> = {}): StorageClass {
  return { metadata: { name }, provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer', ...more };
}

export function csiNode(name: string, limits: Record<string, number>): CsiNode {
  const drivers = Object.entries(limits).map(([driver, count]) => ({ name: driver, nodeID: name, allocatable: { count } }));
  return { metadata: { name }, spec: { drivers } };
}

/** A volume that is attached to a node. */
export const attached = (persistentVolumeName: string, nodeName: string): VolumeAttachment => ({
  metadata: { name: `${persistentVolumeName}-on-${nodeName}` },
  spec: { attacher: 'driver', nodeName, source: { persistentVolumeName } },
});

export const csiDriver = (name: string, storageCapacity = false, preventPodSchedulingIfMissing = false): CsiDriver => ({
  metadata: { name },
  spec: { storageCapacity, preventPodSchedulingIfMissing },
});

export const csiCapacity = (storageClassName: string, more: Partial<CsiCapacity>): CsiCapacity => ({
  metadata: { namespace: 'default', name: `of-${storageClassName}` },
  storageClassName,
  ...more,
});

/** A pod with these claims. */
export const podWith = (name: string, ...claims: string[]): PodBuilder => pod(name).spec({ volumes: claimVolumes(claims) });

export const claimVolumes = (claims: readonly string[]): PodVolume[] =>
  claims.map((claimName, at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName } }));

export interface World {
  claims?: readonly ClaimBuilder[];
  volumes?: readonly VolumeBuilder[];
  classes?: readonly StorageClass[];
  csiNodes?: readonly CsiNode[];
  drivers?: readonly CsiDriver[];
  capacities?: readonly CsiCapacity[];
  attachments?: readonly VolumeAttachment[];
  /** On nodes, as the scheduler's cache has them. */
  pods?: readonly PodBuilder[];
}

export function viewOf(world: World): StorageView {
  const { claims = [], volumes = [], classes = [], csiNodes = [], drivers = [], capacities = [], attachments = [], pods = [] } = world;
  const named = <T extends { metadata: { name?: string } }>(objects: readonly T[], name: string): T | undefined =>
    objects.find(({ metadata }) => metadata.name === name);
  const allClaims = claims.map((each) => each.build());
  const allVolumes = volumes.map((each) => each.build());
  const infos = infosOf(pods);
  return {
    claim: (namespace, name) => allClaims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    volume: (name) => named(allVolumes, name),
    volumesOfClass: (name) => allVolumes.filter(({ spec }) => (spec?.storageClassName ?? '') === name),
    storageClass: (name) => named(classes, name),
    csiNode: (name) => named(csiNodes, name),
    csiDriver: (name) => named(drivers, name),
    attachedTo: (node) => attachments.filter(({ spec }) => spec.nodeName === node),
    capacities: (name) => capacities.filter(({ storageClassName }) => storageClassName === name),
    usersOf: (namespace, name) =>
      infos.filter((info) => info.namespace === namespace && usesClaim(info, name)).map((info) => ({ pod: info, node: info.nodeName })),
  };
}

export const infosOf = (pods: readonly PodBuilder[]): PodInfo[] => pods.map((each) => podInfoOf(each.build()));

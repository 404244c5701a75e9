import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  storageClasses,
  volumeAttachments,
} from '../../kube/api/object.ts';
import type { Informer, Key } from '../../kube/cache/contract.ts';
import type { Fields } from '../../kube/cache/fields.ts';
import type { Informers } from '../../kube/cache/informers.ts';
import type { Claim, ClusterEvent, CsiCapacity, CsiDriver, CsiNode, StorageClass, Volume, VolumeAttachment } from '../types.ts';
import { Assumptions } from './assumptions.ts';
import { classNameOf } from './claims.ts';
import type { AssumingView, ClaimUser, StorageView, VolumeDecision } from './contract.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { podVolumesOf, usesClaim } from './pod-volumes.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/** Informers of the storage kinds; undefined for kinds that the server does not have. */
export interface StorageCaches {
  claims: Informer<Claim>;
  volumes: Informer<Volume>;
  classes: Informer<StorageClass>;
  csiNodes: Informer<CsiNode> | undefined;
  csiDrivers: Informer<CsiDriver> | undefined;
  capacities: Informer<CsiCapacity> | undefined;
  attachments: Informer<VolumeAttachment> | undefined;
}

const BY_CLASS = 'storage-class';
const BY_NODE = 'node';
const kind = 'storage-changed' as const;
const volumeSpec = ['accessModes', 'capacity', 'claimRef', 'csi.driver', 'csi.volumeHandle', 'nodeAffinity', 'storageClassName'];
/** Fields that identify the disks of in-tree plugins: see `pod-volumes.ts`. */
const inTreeSpec = [
  'awsElasticBlockStore.volumeID',
  'gcePersistentDisk.pdName',
  'azureDisk.diskURI',
  'azureDisk.kind',
  'cinder.volumeID',
  'portworxVolume.volumeID',
];
const volumeFields = [...volumeSpec, ...inTreeSpec, 'volumeAttributesClassName', 'volumeMode'].map((field) => `spec.${field}`);
const attachmentFields: Fields = ['spec.nodeName', 'spec.source.persistentVolumeName'];
const capacityFields: Fields = ['capacity', 'maximumVolumeSize', 'nodeTopology', 'storageClassName'];

/** The informers that the volume plugins need. */
export function storageCachesOf(informers: Pick<Informers, 'of'>, served: ServedKinds): StorageCaches {
  const claimFields: Fields = ['metadata.annotations', 'spec', 'status.phase'];
  const classFields: Fields = ['provisioner', 'volumeBindingMode', 'allowedTopologies'];
  return {
    claims: informers.of<Claim>(persistentVolumeClaims, { fields: claimFields }),
    volumes: informers.of<Volume>(persistentVolumes, {
      fields: [...volumeFields, 'metadata.annotations', 'status.phase'],
      indexes: { [BY_CLASS]: volumeClass },
    }),
    classes: informers.of<StorageClass>(storageClasses, { fields: classFields }),
    csiNodes: served.csiNodes && informers.of<CsiNode>(served.csiNodes, { fields: ['spec.drivers'] }),
    csiDrivers:
      served.csiDrivers &&
      informers.of<CsiDriver>(served.csiDrivers, { fields: ['spec.storageCapacity', 'spec.preventPodSchedulingIfMissing'] }),
    capacities:
      served.csiStorageCapacities &&
      informers.of<CsiCapacity>(served.csiStorageCapacities, { fields: capacityFields, indexes: { [BY_CLASS]: capacityClass } }),
    attachments:
      served.volumeAttachments &&
      informers.of<VolumeAttachment>(served.volumeAttachments, {
        fields: attachmentFields,
        indexes: { [BY_NODE]: ({ spec }) => [spec.nodeName] },
      }),
  };
}

/** The caches, overridden by decisions that they do not show yet. */
export class CachedStorage implements AssumingView {
  readonly #caches: StorageCaches;
  readonly #assumed = new Assumptions();
  readonly usersOf: StorageView['usersOf'];

  /** @param usersOf - pods on nodes by the claims they use, from the scheduler's own cache */
  constructor(caches: StorageCaches, usersOf: StorageView['usersOf']) {
    this.#caches = caches;
    this.usersOf = usersOf;
  }

  assume(holder: string, decision: VolumeDecision): void {
    this.#assumed.add(holder, decision);
  }

  forget(holder: string): readonly ClusterEvent[] {
    const held = this.#assumed.heldBy(holder);
    const look = () => ({
      volumes: held.volumes.map((name) => this.volume(name)),
      claims: held.claims.map((key) => this.#claim(key)),
    });
    const before = look();
    this.#assumed.drop(holder);
    const after = look();
    return [
      ...before.volumes.map((was, at) => ({ kind, of: 'PersistentVolume' as const, before: was, after: after.volumes[at] })),
      ...before.claims.map((was, at) => ({ kind, of: 'PersistentVolumeClaim' as const, before: was, after: after.claims[at] })),
      // An assumption that the cache shows by now changes nothing.
    ].filter((event) => event.before !== event.after);
  }

  claim(namespace: string, name: string): Readonly<Claim> | undefined {
    return this.#claim(`${namespace}/${name}`);
  }

  volume(name: string): Readonly<Volume> | undefined {
    const seen = this.#caches.volumes.get(name);
    return seen && this.#assumed.volume(seen);
  }

  volumesOfClass(name: string): readonly Readonly<Volume>[] {
    const seen = this.#caches.volumes.indexed(BY_CLASS, name);
    return this.#assumed.size === 0 ? seen : seen.map((volume) => this.#assumed.volume(volume));
  }

  storageClass(name: string): Readonly<StorageClass> | undefined {
    return name === '' ? undefined : this.#caches.classes.get(name);
  }

  csiNode(node: string): Readonly<CsiNode> | undefined {
    return this.#caches.csiNodes?.get(node);
  }

  csiDriver(name: string): Readonly<CsiDriver> | undefined {
    return this.#caches.csiDrivers?.get(name);
  }

  capacities(storageClass: string): readonly Readonly<CsiCapacity>[] {
    return this.#caches.capacities?.indexed(BY_CLASS, storageClass) ?? [];
  }

  attachedTo(node: string): readonly Readonly<VolumeAttachment>[] {
    return this.#caches.attachments?.indexed(BY_NODE, node) ?? [];
  }

  #claim(key: Key): Readonly<Claim> | undefined {
    const seen = this.#caches.claims.get(key);
    return seen && this.#assumed.claim(seen);
  }
}

function volumeClass(volume: Readonly<Volume>): string[] {
  return [classNameOf(volume)];
}

function capacityClass({ storageClassName }: Readonly<CsiCapacity>): string[] {
  return [storageClassName];
}

const nobody: readonly ClaimUser[] = [];

/** Pods on nodes by the claims they use. */
export class ClaimUsers {
  readonly #byClaim = new Map<string, Map<string, ClaimUser>>();

  of(namespace: string, claim: string): readonly ClaimUser[] {
    const users = this.#byClaim.get(`${namespace}/${claim}`);
    return users === undefined ? nobody : [...users.values()];
  }

  add(pod: PodInfo, node: string): void {
    for (const { name } of podVolumesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key) ?? new Map<string, ClaimUser>();
      users.set(pod.uid, { pod, node });
      this.#byClaim.set(key, users);
    }
  }

  remove(pod: PodInfo): void {
    for (const { name } of podVolumesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key);
      if (users?.delete(pod.uid) === true && users.size === 0) this.#byClaim.delete(key);
    }
  }
}

/** Kinds that not every server has, in the version that this server has; undefined: it has none. */
export interface ServedKinds {
  csiNodes: Resource | undefined;
  csiDrivers: Resource | undefined;
  /** Since 1.21 as v1beta1, since 1.24 as v1. */
  csiStorageCapacities: Resource | undefined;
  volumeAttachments: Resource | undefined;
}

const versions = ['v1', 'v1beta1'];

/** The storage kinds that the server has, so that no cache waits for a list that always fails. @throws what the client throws; a missing group is no error */
export async function servedStorageKinds(client: Pick<Client, 'raw'>, signal?: AbortSignal): Promise<ServedKinds> {
  const served = await Promise.all(versions.map((version) => resourcesOf(client, version, signal)));
  const as = (kind: Resource): Resource | undefined => {
    const at = served.findIndex((names) => names.has(kind.resource));
    const version = versions[at];
    return version === undefined ? undefined : { ...kind, version };
  };
  return {
    csiNodes: as(csiNodes),
    csiDrivers: as(csiDrivers),
    csiStorageCapacities: as(csiStorageCapacities),
    volumeAttachments: as(volumeAttachments),
  };
}

async function resourcesOf(client: Pick<Client, 'raw'>, version: string, signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
  const path = `/apis/${csiNodes.group}/${version}`;
  const list = await client.raw('GET', path, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const found: unknown[] = isJsonObject(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  return new Set(found.flatMap((one) => (isJsonObject(one) && typeof one['name'] === 'string' ? [one['name']] : [])));
}

/** Storage objects from lists. */
export interface StorageLists {
  readonly claims: readonly Readonly<Claim>[];
  readonly volumes: readonly Readonly<Volume>[];
  readonly storageClasses: readonly Readonly<StorageClass>[];
  readonly csiNodes: readonly Readonly<CsiNode>[];
  readonly csiDrivers: readonly Readonly<CsiDriver>[];
  readonly capacities: readonly Readonly<CsiCapacity>[];
  readonly attachments: readonly Readonly<VolumeAttachment>[];
}

/** @param pods - those that have a node */
export function listedStorage(lists: StorageLists, pods: readonly PodInfo[]): StorageView {
  const named = <T extends { metadata: { name?: string } }>(list: readonly T[], name: string): T | undefined =>
    list.find(({ metadata }) => metadata.name === name);
  return {
    claim: (namespace, name) => lists.claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    volume: (name) => named(lists.volumes, name),
    volumesOfClass: (name) => lists.volumes.filter((volume) => classNameOf(volume) === name),
    storageClass: (name) => named(lists.storageClasses, name),
    csiNode: (node) => named(lists.csiNodes, node),
    csiDriver: (name) => named(lists.csiDrivers, name),
    capacities: (name) => lists.capacities.filter(({ storageClassName }) => storageClassName === name),
    attachedTo: (node) => lists.attachments.filter(({ spec }) => spec.nodeName === node),
    usersOf: (namespace, claim): ClaimUser[] =>
      pods.filter((pod) => pod.namespace === namespace && usesClaim(pod, claim)).map((pod) => ({ pod, node: pod.nodeName })),
  };
}

import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../kube/api/resources.ts';
import type { Informer, Key } from '../../kube/cache/contract.ts';
import type { Fields } from '../../kube/cache/fields.ts';
import type { Informers } from '../../kube/cache/informers.ts';
import type { ClusterEvent } from '../cluster-event.ts';
import type { Claim, CsiCapacity, CsiDriver, CsiNode, StorageClass, Volume } from '../types.ts';
import { Assumptions } from './assumptions.ts';
import { classNameOf } from './claims.ts';
import type { AssumingView, StorageView, VolumeDecision } from './contract.ts';
import type { ServedKinds } from './served-kinds.ts';

/** What is known of storage. Kinds that the server does not have are undefined. */
export interface StorageCaches {
  claims: Informer<Claim>;
  volumes: Informer<Volume>;
  classes: Informer<StorageClass>;
  csiNodes: Informer<CsiNode> | undefined;
  csiDrivers: Informer<CsiDriver> | undefined;
  capacities: Informer<CsiCapacity> | undefined;
}

const BY_CLASS = 'storage-class';
const kind = 'storage-changed' as const;
const volumeSpec = ['accessModes', 'capacity', 'claimRef', 'csi.driver', 'csi.volumeHandle', 'nodeAffinity', 'storageClassName'];
const volumeFields = [...volumeSpec, 'volumeAttributesClassName', 'volumeMode'].map((field) => `spec.${field}`);
const capacityFields: Fields = ['capacity', 'maximumVolumeSize', 'nodeTopology', 'storageClassName'];

/** Says which caches are needed. */
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
    csiDrivers: served.csiDrivers && informers.of<CsiDriver>(served.csiDrivers, { fields: ['spec.storageCapacity'] }),
    capacities:
      served.csiStorageCapacities &&
      informers.of<CsiCapacity>(served.csiStorageCapacities, { fields: capacityFields, indexes: { [BY_CLASS]: capacityClass } }),
  };
}

/** The caches, with decisions that they do not show yet laid over them. */
export class CachedStorage implements AssumingView {
  readonly #caches: StorageCaches;
  readonly #assumed = new Assumptions();
  readonly usersOf: StorageView['usersOf'];

  /** @param usersOf - pods on nodes by the claims they use, as the scheduler's own cache has them */
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
      // What came true is as it was.
    ].filter((event) => event.before !== event.after);
  }

  /** Objects of which something is assumed. */
  get assumptions(): number {
    return this.#assumed.size;
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

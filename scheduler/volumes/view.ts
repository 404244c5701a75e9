import { type Key, objectKey } from '../../kube/cache/contract.ts';
import { BY_CLASS, BY_NODE, type StorageCaches } from '../informers.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Claim, ClusterEvent, CsiCapacity, CsiDriver, CsiNode, PersistentVolume, StorageClass, VolumeAttachment } from '../types.ts';
import { claimRefTo, classNameOf, isFullyBound, isReservedFor, SELECTED_NODE, selectedNodeOf } from './claims.ts';
import type { AssumingView, ClaimUser, StorageView, VolumeDecision } from './contract.ts';
import { volumeSourcesOf, usesClaim } from './pod-volumes.ts';

const kind = 'storage-changed' as const;

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

  volume(name: string): Readonly<PersistentVolume> | undefined {
    const seen = this.#caches.volumes.get(name);
    return seen && this.#assumed.volume(seen);
  }

  volumesOfClass(name: string): readonly Readonly<PersistentVolume>[] {
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

/** The assumed state of one object, and the pods it is assumed for. */
interface Assumption<T, Value> {
  readonly value: Value;
  readonly holders: Set<string>;
  /** The object with the assumption applied: made once for each cached state. */
  made?: { readonly from: Readonly<T>; readonly as: Readonly<T> };
}

/** Assumed claims and volumes, which override the cached ones. An assumption that the cache shows, or that can no longer come true, is dropped when read. */
export class Assumptions {
  readonly #volumes = new Map<string, Assumption<PersistentVolume, Readonly<Claim>>>();
  readonly #claims = new Map<Key, Assumption<Claim, { uid: string; node: string }>>();

  get size(): number {
    return this.#volumes.size + this.#claims.size;
  }

  add(holder: string, { reserve, provision }: VolumeDecision): void {
    for (const { volume, claim } of reserve) {
      const { name = '' } = volume.metadata;
      const there = this.#volumes.get(name);
      if (there !== undefined && there.value.metadata.uid === claim.metadata.uid) there.holders.add(holder);
      else this.#volumes.set(name, { value: claim, holders: new Set([holder]) });
    }
    for (const { claim, node } of provision) {
      const key = objectKey(claim);
      const { uid = '' } = claim.metadata;
      const there = this.#claims.get(key);
      if (there !== undefined && there.value.uid === uid && there.value.node === node) there.holders.add(holder);
      else this.#claims.set(key, { value: { uid, node }, holders: new Set([holder]) });
    }
  }

  /** Names of volumes and keys of claims with an assumption of this holder. */
  heldBy(holder: string): { volumes: readonly string[]; claims: readonly Key[] } {
    const held = (assumed: ReadonlyMap<string, { holders: ReadonlySet<string> }>): string[] =>
      [...assumed].flatMap(([key, { holders }]) => (holders.has(holder) ? [key] : []));
    return { volumes: held(this.#volumes), claims: held(this.#claims) };
  }

  drop(holder: string): void {
    for (const assumed of [this.#volumes, this.#claims])
      for (const [key, { holders }] of assumed) if (holders.delete(holder) && holders.size === 0) assumed.delete(key);
  }

  volume(seen: Readonly<PersistentVolume>): Readonly<PersistentVolume> {
    const { name = '' } = seen.metadata;
    const assumed = this.#volumes.get(name);
    if (assumed === undefined) return seen;
    const ref = seen.spec?.claimRef;
    // A claimRef in the cache takes precedence, except one for this claim without a UID, which may still be added.
    if (ref && (ref.uid || !isReservedFor(seen, assumed.value))) {
      this.#volumes.delete(name);
      return seen;
    }
    if (assumed.made?.from === seen) return assumed.made.as;
    const as: PersistentVolume = { ...seen, spec: { ...seen.spec, claimRef: claimRefTo(assumed.value) } };
    assumed.made = { from: seen, as };
    return as;
  }

  claim(seen: Readonly<Claim>): Readonly<Claim> {
    const key = objectKey(seen);
    const assumed = this.#claims.get(key);
    if (assumed === undefined) return seen;
    if (seen.metadata.uid !== assumed.value.uid || isFullyBound(seen) || selectedNodeOf(seen) !== undefined) {
      this.#claims.delete(key);
      return seen;
    }
    if (assumed.made?.from === seen) return assumed.made.as;
    const annotations = { ...seen.metadata.annotations, [SELECTED_NODE]: assumed.value.node };
    const as: Claim = { ...seen, metadata: { ...seen.metadata, annotations } };
    assumed.made = { from: seen, as };
    return as;
  }
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
    for (const { name } of volumeSourcesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key) ?? new Map<string, ClaimUser>();
      users.set(pod.uid, { pod, node });
      this.#byClaim.set(key, users);
    }
  }

  remove(pod: PodInfo): void {
    for (const { name } of volumeSourcesOf(pod).claims) {
      const key = `${pod.namespace}/${name}`;
      const users = this.#byClaim.get(key);
      if (users?.delete(pod.uid) === true && users.size === 0) this.#byClaim.delete(key);
    }
  }
}

/** Storage objects from lists. */
export interface StorageLists {
  readonly claims: readonly Readonly<Claim>[];
  readonly volumes: readonly Readonly<PersistentVolume>[];
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

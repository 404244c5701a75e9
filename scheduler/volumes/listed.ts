import type { PodInfo } from '../pod/pod-info.ts';
import type { Claim, CsiCapacity, CsiDriver, CsiNode, StorageClass, Volume } from '../types.ts';
import { classNameOf } from './claims.ts';
import type { ClaimUser, StorageView } from './contract.ts';
import { usesClaim } from './pod-volumes.ts';

/** Storage as it was read once. */
export interface StorageLists {
  readonly claims: readonly Readonly<Claim>[];
  readonly volumes: readonly Readonly<Volume>[];
  readonly storageClasses: readonly Readonly<StorageClass>[];
  readonly csiNodes: readonly Readonly<CsiNode>[];
  readonly csiDrivers: readonly Readonly<CsiDriver>[];
  readonly capacities: readonly Readonly<CsiCapacity>[];
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
    usersOf: (namespace, claim): ClaimUser[] =>
      pods.filter((pod) => pod.namespace === namespace && usesClaim(pod, claim)).map((pod) => ({ pod, node: pod.nodeName })),
  };
}

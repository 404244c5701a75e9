import type { Claim, ClusterEvent, CsiDriver, PersistentVolume } from '../../types.ts';
import type { PodInfo } from '../../pod/pod-info.ts';
import { largestOf } from '../../volumes/claims.ts';
import { volumeSourcesOf } from '../../volumes/pod-volumes.ts';
import type { Hint } from '../contract.ts';

type Changed<T> = { readonly before: Readonly<T> | undefined; readonly after: Readonly<T> | undefined };
type StorageEvent = Extract<ClusterEvent, { kind: 'storage-changed' }>;

/** Disks and claims that only one pod, or one node's pods, may use. */
export const volumeRestrictions: Hint = (info, event) => {
  if (event.kind === 'node-added') return volumeSourcesOf(info).disks.length > 0;
  if (event.kind === 'assigned-pod-deleted') return sharesStorage(info, event.before);
  return event.kind === 'storage-changed' && isOwnClaim(info, event);
};

/** Volume limits of nodes. */
export const nodeVolumeLimits: Hint = (info, event) => {
  if (event.kind === 'node-added') return true;
  if (event.kind === 'assigned-pod-deleted') {
    const { claims, inTree } = volumeSourcesOf(event.before);
    return claims.length + inTree.length > 0;
  }
  if (event.kind !== 'storage-changed') return false;
  if (event.of === 'CSINode') return differs(event.before?.spec, event.after?.spec);
  if (event.of === 'VolumeAttachment') return event.after === undefined;
  if (event.of === 'CSIDriver') return isRequired(event.before) && !isRequired(event.after);
  return isOwnClaim(info, event) || (event.of === 'PersistentVolume' && isForClaimOf(info, event));
};

const isRequired = (driver: Readonly<CsiDriver> | undefined): boolean => driver?.spec?.preventPodSchedulingIfMissing === true;

/**
 * Volumes for claims: whether they exist, can be provisioned, and are accessible from the node.
 * @param isRefusedEverywhere - whether a claim of the pod is missing or cannot be bound: then no node event helps
 */
export function volumeBinding(isRefusedEverywhere: (pod: PodInfo) => boolean): Hint {
  return (info, event) => {
    if (event.kind === 'node-added') return !isRefusedEverywhere(info);
    if (event.kind === 'node-updated') return event.changed.has('labels') && !isRefusedEverywhere(info);
    return event.kind === 'storage-changed' && storageHelps(info, event);
  };
}

function storageHelps(info: PodInfo, event: StorageEvent): boolean {
  switch (event.of) {
    case 'PersistentVolumeClaim':
      return isOwnClaim(info, event);
    case 'PersistentVolume':
      return isFree(event.after) ? isRelevantChange(event) : isForClaimOf(info, event);
    case 'StorageClass': {
      const { before, after } = event;
      const said = (from: typeof after) => from && [from.provisioner, from.volumeBindingMode, from.allowedTopologies];
      return after !== undefined && differs(said(before), said(after));
    }
    case 'CSINode':
      return event.after !== undefined && differs(event.before?.spec, event.after.spec);
    case 'CSIDriver':
      return (event.before?.spec.storageCapacity ?? false) !== (event.after?.spec.storageCapacity ?? false);
    case 'CSIStorageCapacity': {
      // The storage class and nodes of an existing object are immutable.
      const { before, after } = event;
      if (after === undefined || before === undefined) return after !== undefined;
      return (largestOf(after) ?? 0n) > (largestOf(before) ?? 0n);
    }
    case 'VolumeAttachment':
      return false;
  }
}

const zoneLabels = ['topology.kubernetes.io', 'failure-domain.beta.kubernetes.io'].flatMap((domain) => [
  `${domain}/zone`,
  `${domain}/region`,
]);

/** Zones of volumes and nodes. */
export const volumeZone: Hint = (info, event) => {
  if (event.kind === 'node-added') return true;
  if (event.kind === 'node-updated') {
    const { before, after } = event;
    return zoneLabels.some((label) => before.metadata.labels?.[label] !== after.metadata.labels?.[label]);
  }
  if (event.kind !== 'storage-changed') return false;
  if (event.of === 'StorageClass') return event.before === undefined;
  return isOwnClaim(info, event) || (event.of === 'PersistentVolume' && isForClaimOf(info, event));
};

/** A claim of the pod was added or changed. */
function isOwnClaim(info: PodInfo, event: StorageEvent): boolean {
  if (event.of !== 'PersistentVolumeClaim' || event.after === undefined) return false;
  const { namespace = '', name = '' } = event.after.metadata;
  return namespace === info.namespace && hasClaim(info, name) && isRelevantChange<Claim>(event);
}

/** A volume that is, or was, for a claim of the pod was added or changed. */
function isForClaimOf(info: PodInfo, event: Changed<PersistentVolume>): boolean {
  const isOurs = (volume: Readonly<PersistentVolume> | undefined) => {
    const ref = volume?.spec?.claimRef;
    return ref?.namespace === info.namespace && hasClaim(info, ref.name ?? '');
  };
  return event.after !== undefined && (isOurs(event.after) || isOurs(event.before)) && isRelevantChange(event);
}

function isFree(volume: Readonly<PersistentVolume> | undefined): boolean {
  return volume !== undefined && volume.spec?.claimRef === undefined;
}

function hasClaim(info: PodInfo, claim: string): boolean {
  return volumeSourcesOf(info).claims.some(({ name }) => name === claim);
}

function sharesStorage(a: PodInfo, b: PodInfo): boolean {
  if (a.namespace === b.namespace && volumeSourcesOf(a).claims.some(({ name }) => hasClaim(b, name))) return true;
  const theirs = volumeSourcesOf(b).disks;
  return volumeSourcesOf(a).disks.some(({ kind, names }) =>
    theirs.some((disk) => disk.kind === kind && disk.names.some((name) => names.includes(name))),
  );
}

/** Whether anything but resourceVersion and managedFields changed. */
function isRelevantChange<T extends Claim | PersistentVolume>({ before, after }: Changed<T>): boolean {
  const said = (from: Readonly<T> | undefined) =>
    from && [from.spec, from.status?.phase, from.metadata.labels, from.metadata.annotations, from.metadata.deletionTimestamp];
  return differs(said(before), said(after));
}

/** Equal values have equal texts, as the API server writes them. If they had not, the pod would be attempted once too often. */
function differs(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}

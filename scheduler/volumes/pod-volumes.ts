import type { Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Attachment, Disk } from './contract.ts';
import { attachmentOfPodVolume } from './migrated.ts';

/** A claim that a pod names. */
export interface ClaimName {
  readonly name: string;
  /** Made for this pod alone, by the cluster. */
  readonly ephemeral: boolean;
}

/** What the scheduler reads of a pod's volumes. */
export interface PodVolumes {
  /** In the pod's order, each name once. */
  readonly claims: readonly ClaimName[];
  readonly disks: readonly Disk[];
  /** Disks that the pod names without a claim and that CSI drivers attach. */
  readonly inTree: readonly Attachment[];
}

const nothing: PodVolumes = { claims: [], disks: [], inTree: [] };
const known = new WeakMap<PodInfo, PodVolumes>();
/** Lists of volumes with nothing of interest. They are the same object for pods of one template, and most pods have such a one: one entry does for all of them. */
const plain = new WeakSet<readonly PodVolume[]>();

/** Computed once for each pod: filtering a node reads it of all pods there. */
export function podVolumesOf(info: PodInfo): PodVolumes {
  const { volumes } = info.pod.spec ?? {};
  if (volumes === undefined || volumes.length === 0 || plain.has(volumes)) return nothing;
  const seen = known.get(info);
  if (seen !== undefined) return seen;
  const read = readVolumes(info.name, volumes);
  if (read === nothing) plain.add(volumes);
  else known.set(info, read);
  return read;
}

/**
 * What pods have in common that want the same of storage: '' when they want nothing of it, as with files that come from ConfigMaps and Secrets, empty
 * directories, directories of the node, and whatever else is only of interest where the pod runs.
 */
export function volumeKey(info: PodInfo): string {
  const { claims, disks, inTree } = podVolumesOf(info);
  if (claims.length + disks.length + inTree.length === 0) return '';
  const named = claims.map(({ name, ephemeral }) => `${ephemeral ? `ephemeral ${info.uid}` : 'claim'} ${info.namespace}/${name}`);
  const drawn = disks.map(({ kind, names, readOnly }) => `${kind} ${readOnly ? 'ro' : 'rw'} ${JSON.stringify(names.toSorted())}`);
  const attached = inTree.map(({ driver, handle }) => `in-tree ${driver} ${JSON.stringify(handle)}`);
  return [...named, ...drawn, ...attached].toSorted().join('\n');
}

/** Whether the pod uses this claim, which is in its namespace. */
export function usesClaim(info: PodInfo, claim: string): boolean {
  return podVolumesOf(info).claims.some(({ name }) => name === claim);
}

function readVolumes(pod: string, volumes: readonly PodVolume[]): PodVolumes {
  const claims = new Map<string, ClaimName>();
  const disks: Disk[] = [];
  const inTree: Attachment[] = [];
  for (const volume of volumes) {
    const claim = claimOf(pod, volume);
    if (claim !== undefined) claims.set(claim.name, claim);
    const disk = diskOf(volume);
    if (disk !== undefined) disks.push(disk);
    const attachment = attachmentOfPodVolume(volume);
    if (attachment !== undefined) inTree.push(attachment);
  }
  return claims.size + disks.length + inTree.length === 0 ? nothing : { claims: [...claims.values()], disks, inTree };
}

function claimOf(pod: string, { name, persistentVolumeClaim, ephemeral }: PodVolume): ClaimName | undefined {
  if (persistentVolumeClaim) return { name: persistentVolumeClaim.claimName, ephemeral: false };
  return ephemeral ? { name: `${pod}-${name}`, ephemeral: true } : undefined;
}

function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: PodVolume): Disk | undefined {
  if (gcePersistentDisk) return { kind: 'gce', names: [gcePersistentDisk.pdName], readOnly: gcePersistentDisk.readOnly === true };
  // Attached to one machine by one user: a second reader is one too many.
  if (awsElasticBlockStore) return { kind: 'ebs', names: [awsElasticBlockStore.volumeID], readOnly: false };
  if (iscsi) return { kind: 'iscsi', names: [iscsi.iqn], readOnly: iscsi.readOnly === true };
  if (!rbd) return undefined;
  const image = `${rbd.pool ?? 'rbd'}/${rbd.image}`;
  // An image is the same when its clusters have a monitor in common.
  return { kind: 'rbd', names: rbd.monitors.map((monitor) => `${monitor} ${image}`), readOnly: rbd.readOnly === true };
}

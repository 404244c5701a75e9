import type { Rejection } from '../plugins/rejection.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Claim } from '../types.ts';
import type { Disk, StorageView, VolumeNeeds, VolumeNode } from './contract.ts';
import { podVolumesOf, usesClaim } from './pod-volumes.ts';

const NO_DISK = refusal('node(s) had no available disk');
const IN_USE = refusal('node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode');

/** Disks that another pod of the node writes to, and claims that only one pod may use. */
export function filterRestrictions({ pod, disks, exclusive }: VolumeNeeds, on: VolumeNode, view: StorageView): Rejection | undefined {
  if (disks.length > 0 && on.pods.some((other) => other.key !== pod.key && conflict(disks, podVolumesOf(other).disks))) return NO_DISK;
  return exclusive.some((claim) => isInUse(claim, pod, on, view)) ? IN_USE : undefined;
}

function conflict(ours: readonly Disk[], theirs: readonly Disk[]): boolean {
  return theirs.some((their) => ours.some((our) => isSameDisk(our, their) && !(our.readOnly && their.readOnly)));
}

function isSameDisk(a: Disk, b: Disk): boolean {
  return a.kind === b.kind && a.names.some((name) => b.names.includes(name));
}

/**
 * Whether anybody but the pod has the claim. Of this node those count who are on it now: a trial takes pods away and adds others. Whoever has the pod's
 * own name is the pod that was here before, and what is kept for its successor: that is no other user.
 */
function isInUse({ metadata }: Readonly<Claim>, pod: PodInfo, on: VolumeNode, view: StorageView): boolean {
  const { namespace = '', name = '' } = metadata;
  const here = on.node.metadata.name;
  if (view.usersOf(namespace, name).some((user) => user.node !== here && user.pod.key !== pod.key)) return true;
  return on.pods.some((other) => other.namespace === namespace && other.key !== pod.key && usesClaim(other, name));
}

function refusal(reason: string): Rejection {
  return { plugin: 'VolumeRestrictions', resolvable: true, reasons: [reason] };
}

import type { Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Attachment, Disk, StorageView, VolumeNeeds, NodeInfo } from './contract.ts';
import { attachmentOfVolume, volumeSourcesOf, usesClaim } from './pod-volumes.ts';
import { attachmentOf } from './needs.ts';
import type { Claim, PersistentVolume, VolumeAttachment } from '../types.ts';

const TOO_MANY: Rejection = { plugin: 'NodeVolumeLimits', resolvable: true, reasons: ['node(s) exceed max volume count'] };

/**
 * Per driver, a node takes as many volumes as its CSINode allows. A volume that several pods use counts once. An attached volume that no pod of the node uses
 * (any more) counts until it is detached. A node without the driver takes any number, or none if the CSIDriver (from 1.37 on) sets
 * `preventPodSchedulingIfMissing`.
 */
export function filterLimits({ pod, attachments, missing }: VolumeNeeds, on: NodeInfo, view: StorageView): Rejection | undefined {
  if (missing !== undefined) {
    const reason = `looking up PVC ${pod.namespace}/${missing}: persistentvolumeclaim "${missing}" not found`;
    return { plugin: 'NodeVolumeLimits', resolvable: false, reasons: [reason] };
  }
  if (attachments.length === 0) return undefined;
  const { name: node = '' } = on.node.metadata;
  const drivers = view.csiNode(node)?.spec?.drivers ?? [];
  const absent = attachments.find(({ driver }) => isRequired(driver, view) && !drivers.some(({ name }) => name === driver));
  if (absent !== undefined)
    return { plugin: 'NodeVolumeLimits', resolvable: true, reasons: [`${absent.driver} CSI driver is not installed on the node`] };
  for (const { name, allocatable } of drivers) {
    const most = allocatable?.count;
    if (most !== undefined && isTooMany(attachments, name, most, pod, on.pods, view.attachedTo(node), view)) return TOO_MANY;
  }
  return undefined;
}

const isRequired = (driver: string, view: StorageView): boolean => view.csiDriver(driver)?.spec?.preventPodSchedulingIfMissing === true;

function isTooMany(
  wanted: readonly Attachment[],
  driver: string,
  most: number,
  pod: PodInfo,
  pods: readonly PodInfo[],
  attached: readonly Readonly<VolumeAttachment>[],
  view: StorageView,
): boolean {
  const added = new Set<string>();
  for (const attachment of wanted) if (attachment.driver === driver) added.add(attachment.handle);
  if (added.size === 0) return false;
  // Usually the limit is not reached even if every claim were a volume of this driver; finding out which ones are costs much more.
  let possible = attached.length;
  for (const other of pods) {
    const { claims, inTree } = volumeSourcesOf(other);
    possible += claims.length + inTree.length;
  }
  if (possible + added.size <= most) return false;
  const there = new Set<string>();
  for (const other of pods) if (other.key !== pod.key) addAttached(there, other, driver, view);
  for (const { spec } of attached) {
    const volume = view.volume(spec.source.persistentVolumeName ?? '');
    const attachment = volume && attachmentOfVolume(volume);
    if (attachment?.driver === driver) there.add(attachment.handle);
  }
  for (const handle of there) added.delete(handle);
  // A node above its limit still takes pods that add no volume.
  return added.size > 0 && there.size + added.size > most;
}

function addAttached(there: Set<string>, pod: PodInfo, driver: string, view: StorageView): void {
  const { claims, inTree } = volumeSourcesOf(pod);
  for (const attachment of inTree) if (attachment.driver === driver) there.add(attachment.handle);
  for (const { name } of claims) {
    const claim = view.claim(pod.namespace, name);
    const attachment = claim && attachmentOf(claim, view);
    if (attachment?.driver === driver) there.add(attachment.handle);
  }
}

/** Deprecated labels, and their successors. */
const successors: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};

const zoneLabels = Object.entries(successors).flat();

const OTHER_ZONE: Rejection = { plugin: 'VolumeZone', resolvable: false, reasons: ['node(s) had no available volume zone'] };

/** Zone and region of a bound volume, if its labels have them, must be the node's. A node without zone labels takes all volumes. */
export function filterZone({ bound }: VolumeNeeds, { node }: NodeInfo): Rejection | undefined {
  const labels = node.metadata.labels ?? {};
  if (bound.length === 0 || !zoneLabels.some((label) => labels[label] !== undefined)) return undefined;
  return bound.every(({ volume }) => volume === undefined || isInZone(volume, labels)) ? undefined : OTHER_ZONE;
}

function isInZone({ metadata }: Readonly<PersistentVolume>, labels: Readonly<Record<string, string>>): boolean {
  return zoneLabels.every((label) => {
    const zones = zonesOf(metadata.labels?.[label]);
    if (zones === undefined) return true;
    const zone = labels[label] ?? labels[successors[label] ?? ''];
    return zone !== undefined && zones.includes(zone);
  });
}

/** The zones in `a__b`. @returns undefined without a value, or for an invalid one */
function zonesOf(value: string | undefined): string[] | undefined {
  const zones = value?.split('__').map((zone) => zone.trim());
  return zones?.includes('') ? undefined : zones;
}

const NO_DISK = rejection('node(s) had no available disk');

const IN_USE = rejection('node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode');

/** Rejects a node where another pod uses the same disk, unless both only read, or for a claim that only one pod may use and another one uses. */
export function filterRestrictions({ pod, disks, exclusive }: VolumeNeeds, on: NodeInfo, view: StorageView): Rejection | undefined {
  if (disks.length > 0 && on.pods.some((other) => other.key !== pod.key && conflict(disks, volumeSourcesOf(other).disks))) return NO_DISK;
  return exclusive.some((claim) => isInUse(claim, pod, on, view)) ? IN_USE : undefined;
}

function conflict(ours: readonly Disk[], theirs: readonly Disk[]): boolean {
  return theirs.some((their) => ours.some((our) => isSameDisk(our, their) && !(our.readOnly && their.readOnly)));
}

function isSameDisk(a: Disk, b: Disk): boolean {
  return a.kind === b.kind && a.names.some((name) => b.names.includes(name));
}

/**
 * Whether another pod uses the claim. On this node, the pods of the trial count, which may lack some pods and have additional ones. A pod with the same name
 * is the predecessor, or the reservation for its successor, and does not count.
 */
function isInUse({ metadata }: Readonly<Claim>, pod: PodInfo, on: NodeInfo, view: StorageView): boolean {
  const { namespace = '', name = '' } = metadata;
  const here = on.node.metadata.name;
  if (view.usersOf(namespace, name).some((user) => user.node !== here && user.pod.key !== pod.key)) return true;
  return on.pods.some((other) => other.namespace === namespace && other.key !== pod.key && usesClaim(other, name));
}

function rejection(reason: string): Rejection {
  return { plugin: 'VolumeRestrictions', resolvable: true, reasons: [reason] };
}

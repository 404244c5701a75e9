import type { PersistentVolumeSpec, Volume } from 'kubernetes-types/core/v1.js';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Attachment, Disk } from './contract.ts';
import type { PersistentVolume } from '../types.ts';

/** A claim that a pod uses. */
export interface ClaimName {
  readonly name: string;
  /** Created for this pod by the ephemeral volume controller. */
  readonly ephemeral: boolean;
}

/** The sources of a pod's volumes, as far as the scheduler reads them. */
export interface VolumeSources {
  /** In the pod's order, each name once. */
  readonly claims: readonly ClaimName[];
  readonly disks: readonly Disk[];
  /** Disks that the pod uses without a claim and that CSI drivers attach. */
  readonly inTree: readonly Attachment[];
}

const nothing: VolumeSources = { claims: [], disks: [], inTree: [] };
const known = new WeakMap<PodInfo, VolumeSources>();
/** Lists without volumes that matter. Most pods have such a list, and pods of one template share the list object: one entry covers all of them. */
const plain = new WeakSet<readonly Volume[]>();

/** Computed once for each pod: filtering a node reads it of all pods there. */
export function volumeSourcesOf(info: PodInfo): VolumeSources {
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
 * The same text for pods with the same storage requirements: '' without any, as with ConfigMaps, Secrets, emptyDir, hostPath, and other volumes that matter
 * only to the kubelet.
 */
export function volumeKey(info: PodInfo): string {
  const { claims, disks, inTree } = volumeSourcesOf(info);
  if (claims.length + disks.length + inTree.length === 0) return '';
  const named = claims.map(({ name, ephemeral }) => `${ephemeral ? `ephemeral ${info.uid}` : 'claim'} ${info.namespace}/${name}`);
  const drawn = disks.map(({ kind, names, readOnly }) => `${kind} ${readOnly ? 'ro' : 'rw'} ${JSON.stringify(names.toSorted())}`);
  const attached = inTree.map(({ driver, handle }) => `in-tree ${driver} ${JSON.stringify(handle)}`);
  return [...named, ...drawn, ...attached].toSorted().join('\n');
}

/** Whether the pod uses this claim, which is in its namespace. */
export function usesClaim(info: PodInfo, claim: string): boolean {
  return volumeSourcesOf(info).claims.some(({ name }) => name === claim);
}

function readVolumes(pod: string, volumes: readonly Volume[]): VolumeSources {
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

function claimOf(pod: string, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimName | undefined {
  if (persistentVolumeClaim) return { name: persistentVolumeClaim.claimName, ephemeral: false };
  return ephemeral ? { name: `${pod}-${name}`, ephemeral: true } : undefined;
}

function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): Disk | undefined {
  if (gcePersistentDisk) return { kind: 'gce', names: [gcePersistentDisk.pdName], readOnly: gcePersistentDisk.readOnly === true };
  // Two pods on a node conflict even if both only read.
  if (awsElasticBlockStore) return { kind: 'ebs', names: [awsElasticBlockStore.volumeID], readOnly: false };
  if (iscsi) return { kind: 'iscsi', names: [iscsi.iqn], readOnly: iscsi.readOnly === true };
  if (!rbd) return undefined;
  const image = `${rbd.pool ?? 'rbd'}/${rbd.image}`;
  // An image is the same when its clusters have a monitor in common.
  return { kind: 'rbd', names: rbd.monitors.map((monitor) => `${monitor} ${image}`), readOnly: rbd.readOnly === true };
}

/**
 * CSI drivers by the in-tree plugin that they replace: those that kube-scheduler 1.36 counts whether or not the CSINode lists them as migrated. It counts
 * neither vSphere nor Azure File.
 * @see https://kep.k8s.io/625
 */
const successors: Readonly<Record<string, string>> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
};

const ZONES = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
/** Where a disk's zone is not known. */
const UNSPECIFIED = 'UNSPECIFIED';

/** The driver that provisions for a class: the provisioner itself, unless it is an in-tree plugin that has been migrated. */
export function driverOf(provisioner: string): string {
  return Object.hasOwn(successors, provisioner) ? (successors[provisioner] ?? provisioner) : provisioner;
}

/** A volume as its driver attaches it, also one of an in-tree plugin. @returns undefined if no driver attaches it */
export function attachmentOfVolume({ metadata, spec }: Readonly<PersistentVolume>): Attachment | undefined {
  if (spec?.csi) return { driver: spec.csi.driver, handle: spec.csi.volumeHandle };
  const zone = ZONES.map((label) => metadata.labels?.[label]).find((value) => value !== undefined);
  return spec && migrated(spec, zone);
}

/** The same for a disk that a pod uses without a claim. */
function attachmentOfPodVolume(volume: Readonly<Volume>): Attachment | undefined {
  return migrated(volume, undefined);
}

type InTree = Pick<PersistentVolumeSpec, 'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk' | 'portworxVolume'> & {
  readonly cinder?: { readonly volumeID: string };
};

/** The handle is the driver's own, so that a disk that is used in-tree and through CSI counts once. */
function migrated(
  { awsElasticBlockStore: ebs, gcePersistentDisk: gce, azureDisk, cinder, portworxVolume }: InTree,
  zone: string | undefined,
): Attachment | undefined {
  const by = (plugin: string, handle: string): Attachment => ({ driver: driverOf(`kubernetes.io/${plugin}`), handle });
  // Also written as `aws://ZONE/vol-1`.
  if (ebs) return by('aws-ebs', ebs.volumeID.slice(ebs.volumeID.lastIndexOf('/') + 1));
  if (gce) return by('gce-pd', `projects/${UNSPECIFIED}/${placeOf(zone)}/disks/${gce.pdName}`);
  // Disks in storage accounts have no driver.
  if (azureDisk) return azureDisk.kind === 'Managed' ? by('azure-disk', azureDisk.diskURI) : undefined;
  if (cinder) return by('cinder', cinder.volumeID);
  return portworxVolume && by('portworx-volume', portworxVolume.volumeID);
}

/** A disk of several zones is regional; the name of the region is a prefix of its zones: `us-a` is in `us`. */
function placeOf(zone: string | undefined): string {
  if (zone === undefined) return `zones/${UNSPECIFIED}`;
  const [first = '', ...more] = zone.split('__');
  return more.length === 0 ? `zones/${zone}` : `regions/${first.slice(0, Math.max(0, first.lastIndexOf('-')))}`;
}

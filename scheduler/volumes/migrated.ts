import type { PersistentVolumeSpec, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import type { Volume } from '../types.ts';
import type { Attachment } from './contract.ts';

/**
 * CSI drivers that attach what in-tree plugins attached before, by the plugin's name. Those that kube-scheduler 1.36 counts whether or not the CSINode says that
 * they are migrated; vSphere and Azure File are not among them: it counts neither.
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

/** A volume as its driver attaches it, also one of an in-tree plugin. @returns undefined for what no driver attaches */
export function attachmentOfVolume({ metadata, spec }: Readonly<Volume>): Attachment | undefined {
  if (spec?.csi) return { driver: spec.csi.driver, handle: spec.csi.volumeHandle };
  const zone = ZONES.map((label) => metadata.labels?.[label]).find((value) => value !== undefined);
  return spec && migrated(spec, zone);
}

/** The same of a disk that a pod names without a claim. */
export function attachmentOfPodVolume(volume: Readonly<PodVolume>): Attachment | undefined {
  return migrated(volume, undefined);
}

type InTree = Pick<PersistentVolumeSpec, 'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk' | 'portworxVolume'> & {
  readonly cinder?: { readonly volumeID: string };
};

/** Driver and handle: what the driver itself would call it, so that a disk which is named both ways is one. */
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

/** A disk of several zones is one of their region, whose name a zone begins with: `us-a` is in `us`. */
function placeOf(zone: string | undefined): string {
  if (zone === undefined) return `zones/${UNSPECIFIED}`;
  const [first = '', ...more] = zone.split('__');
  return more.length === 0 ? `zones/${zone}` : `regions/${first.slice(0, Math.max(0, first.lastIndexOf('-')))}`;
}

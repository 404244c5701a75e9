import type { PersistentVolumeSpec, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { pod, node, type PodBuilder } from '../builders.ts';
import { row, table } from './filter-table.ts';
import { attached, claim, csiDriver, csiNode, podWith, storageClass, volume, type World } from './storage-builders.ts';

const DISK = 'VolumeRestrictions: node(s) had no available disk';
const IN_USE = 'VolumeRestrictions: node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode';
const TOO_MANY = 'NodeVolumeLimits: node(s) exceed max volume count';

const withDisk = (name: string, disk: Omit<PodVolume, 'name'>): PodBuilder => pod(name).spec({ volumes: [{ name: 'd', ...disk }] });
const gce = (name: string, pdName: string, readOnly = false) => withDisk(name, { gcePersistentDisk: { pdName, readOnly } });
const ebs = (name: string, volumeID: string, readOnly = false) => withDisk(name, { awsElasticBlockStore: { volumeID, readOnly } });
const iscsi = (name: string, iqn: string, readOnly = false) =>
  withDisk(name, { iscsi: { iqn, lun: 0, targetPortal: `portal-of-${name}`, readOnly } });
const rbd = (name: string, monitors: string[], image: string, more: { pool?: string; readOnly?: boolean } = {}) =>
  withDisk(name, { rbd: { monitors, image, ...more } });

table('disks that one pod of a node may write to:', [
  row('GCE, both write', DISK, { pod: gce('p', 'x'), here: [gce('q', 'x')] }),
  row('GCE, one writes', DISK, { pod: gce('p', 'x', true), here: [gce('q', 'x')] }),
  row('EBS, both read', DISK, { pod: ebs('p', 'x', true), here: [ebs('q', 'x', true)] }),
  row('ISCSI, one target by two portals', DISK, { pod: iscsi('p', 'x'), here: [iscsi('q', 'x')] }),
  row('RBD, one monitor in common', DISK, { pod: rbd('p', ['a', 'b'], 'x'), here: [rbd('q', ['b', 'c'], 'x')] }),
  row('room that is kept for the pod is not in its way', 'ok', { pod: gce('p', 'x').uid('new'), here: [gce('p', 'x').uid('old')] }),
]);

const alone = { claims: [claim('data').modes('ReadWriteOncePod').to('pv')], volumes: [volume('pv')] };

table('a claim for one pod alone:', [
  row('a pod of this node has it', IN_USE, { ...alone, pods: [podWith('q', 'data').on('node-a')] }),
  row('a pod that is promised this node will have it', IN_USE, { ...alone, here: [podWith('q', 'data')] }),
]);

const disks = ['a', 'b', 'c', 'd'];
const csi: World = {
  claims: [...disks.map((name) => claim(name).to(`pv-${name}`)), claim('late').class('csi'), claim('twin').to('pv-a')],
  volumes: disks.map((name) => volume(`pv-${name}`).csi(name === 'd' ? 'other' : 'driver', `handle-${name}`)),
  classes: [storageClass('csi', { provisioner: 'driver' })],
  csiNodes: [csiNode('node-a', { driver: 2 })],
};
const required = csiDriver('driver', false, true);
const NOT_INSTALLED = 'NodeVolumeLimits: driver CSI driver is not installed on the node';

/** A pod with these claims. */
const asks = (...claims: string[]) => ({ ...csi, pod: podWith('p', ...claims) });
/** Pods that are there, each with its claims: `a b`. */
const users = (...claims: string[]) => ({ here: claims.map((of, at) => podWith(`q-${at}`, ...of.split(' '))) });
const onA = (...volumes: string[]) => ({ attachments: volumes.map((name) => attached(name, 'node-a')) });

const kept = { pod: podWith('p', 'a', 'b').uid('new'), here: [podWith('p', 'b', 'c').uid('old')] };
table('volumes that a node can attach:', [
  row('with those that are there', TOO_MANY, { ...asks('a'), ...users('b', 'c') }),
  row('a volume of two pods is one', 'ok', { ...asks('a', 'b'), ...users('b', 'b') }),
  row('one that is not made yet counts by its class', TOO_MANY, { ...asks('late'), ...users('a b') }),
  row('a node with too many takes what is there already', 'ok', { ...asks('a'), ...users('a b c') }),
  row('a node without a driver that must be there', NOT_INSTALLED, { ...asks('a'), drivers: [required], node: node('node-b') }),
  row('the room kept for the pod itself does not count', 'ok', { ...csi, ...kept }),
  row('one that is attached without a pod', TOO_MANY, { ...asks('a'), ...users('b'), ...onA('pv-c') }),
]);

const both = (driver: string, source: PersistentVolumeSpec, handle: string, labels: Record<string, string> = {}): World => ({
  claims: ['a', 'b', 'same'].map((name) => claim(name).to(`pv-${name}`)),
  volumes: [volume('pv-a').spec(source).labels(labels), volume('pv-b').csi(driver, 'another'), volume('pv-same').csi(driver, handle)],
  csiNodes: [csiNode('node-a', { [driver]: 1 })],
});
const GCE = 'pd.csi.storage.gke.io';
const inGce = (path: string, labels: Record<string, string> = {}) =>
  both(GCE, { gcePersistentDisk: { pdName: 'd' } }, `projects/UNSPECIFIED/${path}/disks/d`, labels);
const zonesOf = { 'failure-domain.beta.kubernetes.io/zone': 'us-a__us-b' };
const azure = (kind: string, diskURI: string) => both('disk.csi.azure.com', { azureDisk: { kind, diskName: 'd', diskURI } }, diskURI);
const migrated = {
  ebs: both('ebs.csi.aws.com', { awsElasticBlockStore: { volumeID: 'vol-1' } }, 'vol-1'),
  ebsInZone: both('ebs.csi.aws.com', { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' } }, 'vol-1'),
  gce: inGce('zones/UNSPECIFIED'),
  gceInZone: inGce('zones/us-a', { 'topology.kubernetes.io/zone': 'us-a' }),
  gceRegional: inGce('regions/us', zonesOf),
  azure: azure('Managed', '/subscriptions/d'),
  cinder: both('cinder.csi.openstack.org', { cinder: { volumeID: 'v' } }, 'v'),
  portworx: both('pxd.portworx.com', { portworxVolume: { volumeID: 'v' } }, 'v'),
};
const uncounted = {
  'a disk in a storage account': azure('Shared', 'u'),
  'Azure File': both('file.csi.azure.com', { azureFile: { secretName: 's', shareName: 'h' } }, 'h'),
  vSphere: both('csi.vsphere.vmware.com', { vsphereVolume: { volumePath: '[ds] v' } }, '[ds] v'),
};

table('volumes of in-tree plugins count for the driver that took them over:', [
  ...Object.entries(migrated).flatMap(([name, world]) => [
    row(`${name}, beside one of the driver`, TOO_MANY, { ...world, pod: podWith('p', 'a'), here: [podWith('q', 'b')] }),
    row(`${name}, which the driver knows as well`, 'ok', { ...world, pod: podWith('p', 'a'), here: [podWith('q', 'same')] }),
  ]),
  ...Object.entries(uncounted).map(([name, world]) =>
    row(`not ${name}`, 'ok', { ...world, pod: podWith('p', 'a'), here: [podWith('q', 'b')] }),
  ),
  row('a disk that the pod itself names', TOO_MANY, { ...migrated.ebs, pod: ebs('p', 'vol-2'), here: [podWith('q', 'a')] }),
]);

table('the order of refusals:', [
  row('a claim in use comes before a volume that cannot be reached', IN_USE, {
    claims: [claim('data').modes('ReadWriteOncePod').to('pv')],
    volumes: [volume('pv').local('node-b')],
    pods: [podWith('q', 'data').on('node-b')],
  }),
]);

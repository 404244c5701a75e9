import type { Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { pod, node, type PodBuilder } from '../builders.ts';
import { table } from './filter-table.ts';
import { claim, csiNode, podWith, storageClass, volume, type World } from './storage-builders.ts';

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
  { why: 'an empty node has no other user', pod: gce('p', 'x'), is: 'ok' },
  { why: 'GCE, both write', pod: gce('p', 'x'), here: [gce('q', 'x')], is: DISK },
  { why: 'GCE, one writes', pod: gce('p', 'x', true), here: [gce('q', 'x')], is: DISK },
  { why: 'GCE, both read', pod: gce('p', 'x', true), here: [gce('q', 'x', true)], is: 'ok' },
  { why: 'GCE, another disk', pod: gce('p', 'x'), here: [gce('q', 'y')], is: 'ok' },
  { why: 'EBS, both write', pod: ebs('p', 'x'), here: [ebs('q', 'x')], is: DISK },
  { why: 'EBS, both read', pod: ebs('p', 'x', true), here: [ebs('q', 'x', true)], is: DISK },
  { why: 'EBS, another disk', pod: ebs('p', 'x'), here: [ebs('q', 'y')], is: 'ok' },
  { why: 'EBS is not GCE', pod: ebs('p', 'x'), here: [gce('q', 'x')], is: 'ok' },
  { why: 'ISCSI, one target by two portals', pod: iscsi('p', 'x'), here: [iscsi('q', 'x')], is: DISK },
  { why: 'ISCSI, both read', pod: iscsi('p', 'x', true), here: [iscsi('q', 'x', true)], is: 'ok' },
  { why: 'ISCSI, another target', pod: iscsi('p', 'x'), here: [iscsi('q', 'y')], is: 'ok' },
  { why: 'RBD, one monitor in common', pod: rbd('p', ['a', 'b'], 'x'), here: [rbd('q', ['b', 'c'], 'x')], is: DISK },
  {
    why: 'RBD, the pool that is meant when none is named',
    pod: rbd('p', ['a'], 'x'),
    here: [rbd('q', ['a'], 'x', { pool: 'rbd' })],
    is: DISK,
  },
  { why: 'RBD, another cluster', pod: rbd('p', ['a'], 'x'), here: [rbd('q', ['b'], 'x')], is: 'ok' },
  { why: 'RBD, another pool', pod: rbd('p', ['a'], 'x'), here: [rbd('q', ['a'], 'x', { pool: 'y' })], is: 'ok' },
  { why: 'RBD, another image', pod: rbd('p', ['a'], 'x'), here: [rbd('q', ['a'], 'y')], is: 'ok' },
  { why: 'RBD, both read', pod: rbd('p', ['a'], 'x', { readOnly: true }), here: [rbd('q', ['a'], 'x', { readOnly: true })], is: 'ok' },
  { why: 'room that is kept for the pod is not in its way', pod: gce('p', 'x').uid('new'), here: [gce('p', 'x').uid('old')], is: 'ok' },
  { why: 'a profile that does not ask', pod: gce('p', 'x'), here: [gce('q', 'x')], disabled: ['VolumeRestrictions'], is: 'ok' },
]);

const alone = { claims: [claim('data').modes('ReadWriteOncePod').to('pv')], volumes: [volume('pv')] };
table('a claim for one pod alone:', [
  { why: 'nobody has it', ...alone, is: 'ok' },
  { why: 'a pod of this node has it', ...alone, pods: [podWith('q', 'data').on('node-a')], is: IN_USE },
  { why: 'a pod of another node has it', ...alone, pods: [podWith('q', 'data').on('node-b')], is: IN_USE },
  { why: 'who had it here is left out of a trial', ...alone, pods: [podWith('q', 'data').on('node-a')], here: [], is: 'ok' },
  { why: 'a pod that is promised this node will have it', ...alone, here: [podWith('q', 'data')], is: IN_USE },
  {
    why: 'the room kept here for the pod itself',
    ...alone,
    pod: podWith('p', 'data').uid('new'),
    here: [podWith('p', 'data').uid('old').on('node-a')],
    is: 'ok',
  },
  {
    why: 'the room kept elsewhere for the pod itself',
    ...alone,
    pod: podWith('p', 'data').uid('new'),
    pods: [podWith('p', 'data').uid('old').on('node-b')],
    is: 'ok',
  },
  { why: 'the pod of this name in another namespace has a claim of its own', ...alone, here: [podWith('other/q', 'data')], is: 'ok' },
  {
    why: 'a claim for pods of one node',
    claims: [claim('data').modes('ReadWriteOnce').to('pv')],
    volumes: [volume('pv')],
    pods: [podWith('q', 'data').on('node-b')],
    is: 'ok',
  },
]);

const disks = ['a', 'b', 'c', 'd'];
const csi: World = {
  claims: [...disks.map((name) => claim(name).to(`pv-${name}`)), claim('late').class('csi'), claim('twin').to('pv-a')],
  volumes: disks.map((name) => volume(`pv-${name}`).csi(name === 'd' ? 'other' : 'driver', `handle-${name}`)),
  classes: [storageClass('csi', { provisioner: 'driver' })],
  csiNodes: [csiNode('node-a', { driver: 2 })],
};
table('volumes that a node can attach:', [
  { why: 'as many as there is room for', ...csi, pod: podWith('p', 'a', 'b'), is: 'ok' },
  { why: 'one too many', ...csi, pod: podWith('p', 'a', 'b', 'c'), is: TOO_MANY },
  { why: 'with those that are there', ...csi, pod: podWith('p', 'a'), here: [podWith('q', 'b'), podWith('r', 'c')], is: TOO_MANY },
  { why: 'a volume of two pods is one', ...csi, pod: podWith('p', 'a', 'b'), here: [podWith('q', 'b'), podWith('r', 'b')], is: 'ok' },
  { why: 'a volume of two claims is one', ...csi, pod: podWith('p', 'a', 'b'), here: [podWith('q', 'twin')], is: 'ok' },
  { why: 'one that is not made yet counts by its class', ...csi, pod: podWith('p', 'late'), here: [podWith('q', 'a', 'b')], is: TOO_MANY },
  { why: 'and is one for all that use it', ...csi, pod: podWith('p', 'late'), here: [podWith('q', 'a', 'late')], is: 'ok late@node-a' },
  { why: 'of others that is not made yet as well', ...csi, pod: podWith('p', 'a', 'b'), here: [podWith('q', 'late')], is: TOO_MANY },
  { why: 'another driver', ...csi, pod: podWith('p', 'd'), here: [podWith('q', 'a', 'b')], is: 'ok' },
  { why: 'another driver takes none of the room', ...csi, pod: podWith('p', 'a'), here: [podWith('q', 'b'), podWith('r', 'd')], is: 'ok' },
  {
    why: 'a node with too many takes what is there already',
    ...csi,
    pod: podWith('p', 'a'),
    here: [podWith('q', 'a', 'b', 'c')],
    is: 'ok',
  },
  { why: 'a node of which nothing is known', ...csi, node: node('node-b'), pod: podWith('p', 'a', 'b', 'c'), is: 'ok' },
  {
    why: 'a driver without a limit',
    ...csi,
    csiNodes: [csiNode('node-a', { driver: undefined })],
    pod: podWith('p', 'a', 'b', 'c'),
    is: 'ok',
  },
  { why: 'a driver that takes none', ...csi, csiNodes: [csiNode('node-a', { driver: 0 })], pod: podWith('p', 'a'), is: TOO_MANY },
  {
    why: 'the room kept for the pod itself does not count',
    ...csi,
    pod: podWith('p', 'a', 'b').uid('new'),
    here: [podWith('p', 'b', 'c').uid('old')],
    is: 'ok',
  },
  {
    why: 'a claim of others that is not there counts nothing',
    ...csi,
    pod: podWith('p', 'a', 'b'),
    here: [podWith('q', 'gone')],
    is: 'ok',
  },
  { why: 'a profile that does not ask', ...csi, disabled: ['NodeVolumeLimits'], pod: podWith('p', 'a', 'b', 'c'), is: 'ok' },
]);

const AFFINITY = 'VolumeBinding!: node(s) had volume node affinity conflict';
const bound = (of: ReturnType<typeof volume>): World => ({ claims: [claim('data').to('pv')], volumes: [of] });
table('the order of refusals:', [
  {
    why: 'a claim in use comes before a volume that cannot be reached',
    claims: [claim('data').modes('ReadWriteOncePod').to('pv')],
    volumes: [volume('pv').local('node-b')],
    pods: [podWith('q', 'data').on('node-b')],
    is: IN_USE,
  },
  {
    why: 'too many come before one that cannot be reached',
    ...csi,
    volumes: [volume('pv-a').csi('driver', 'x').local('node-b')],
    csiNodes: [csiNode('node-a', { driver: 0 })],
    pod: podWith('p', 'a'),
    is: TOO_MANY,
  },
  {
    why: 'reach comes before zones',
    ...bound(volume('pv').inZone('a').labels({ 'topology.kubernetes.io/zone': 'a' })),
    node: node('n').zone('b'),
    is: AFFINITY,
  },
]);

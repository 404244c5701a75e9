import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeSpec, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { volumeRules } from '../../../../scheduler/volumes/rules.ts';
import { node, pod, type NodeBuilder, type PodBuilder } from '../builders.ts';
import { attached, claim, csiCapacity, csiDriver, csiNode, infosOf, podWith, storageClass, viewOf, volume, type World } from './storage-builders.ts'; // prettier-ignore

/** A pod, a node, and what is there. */
interface Case extends World {
  why: string;
  /** @default one with the claim `data` */
  pod?: PodBuilder;
  /** @default node-a */
  node?: NodeBuilder;
  /** On the node. @default those of the world that are there */
  here?: readonly PodBuilder[];
  disabled?: readonly string[];
  /** `ok`, or the plugin (with ! where no pod that goes can help) and the reasons; what is decided after it. */
  is: string;
}

/** What a pod on this node comes to, in this world. */
const row = (why: string, is: string, more: Omit<Case, 'why' | 'is'> = {}): Case => ({ why, is, ...more });

function verdict(c: Case): string {
  const view = viewOf(c);
  const disabled = new Set(c.disabled);
  const needs = volumeRules.needs(podInfoOf((c.pod ?? podWith('p', 'data')).build()), view, disabled);
  assert.ok(needs !== undefined && !('reasons' in needs), 'the pod needs storage');
  const on = (c.node ?? node('node-a')).build();
  const pods = c.here ?? (c.pods ?? []).filter((each) => each.build().spec?.nodeName === on.metadata.name);
  const place = { node: on, pods: infosOf(pods) };
  const refused = volumeRules.filter(needs, place, view, disabled);
  if (refused !== undefined) return `${refused.plugin}${refused.resolvable ? '' : '!'}: ${refused.reasons.join(', ')}`;
  const { reserve, provision } = volumeRules.decide(needs, place, view);
  const reserved = reserve.map((step) => `${step.claim.metadata.name}=${step.volume.metadata.name}`);
  return ['ok', ...reserved, ...provision.map((step) => `${step.claim.metadata.name}@${step.node}`)].join(' ');
}

function table(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    for (const c of cases) test(c.why, () => assert.equal(verdict(c), c.is));
  });
}

const AFFINITY = 'VolumeBinding!: node(s) had volume node affinity conflict';
const NONE = "VolumeBinding!: node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'VolumeBinding!: node(s) did not have enough free storage';
const GONE = 'VolumeBinding!: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const ZONE = 'VolumeZone!: node(s) had no available volume zone';

const bound = (of: ReturnType<typeof volume>): World => ({ claims: [claim('data').to('pv')], volumes: [of] });

table('a volume that is there:', [
  row('is on another machine', AFFINITY, { ...bound(volume('pv').local('node-b')) }),
  row('is gone', GONE, { disabled: ['VolumeZone'], claims: [claim('data').to('pv')] }),
]);

const late = { classes: [storageClass('late')], claims: [claim('data').class('late').asks('2Gi')] };
const fitting = (name: string) => volume(name).class('late').size('2Gi');
const finds = (...volumes: ReturnType<typeof volume>[]) => ({ ...late, volumes });

const gold = fitting('y').labels({ tier: 'gold' });
const selecting = (selector: object) => claim('data').class('late').spec({ selector });
table('a volume to be found:', [
  row('there is none', NONE, { ...late }),
  row('too small', NONE, { ...late, volumes: [fitting('pv').size('2047Mi')] }),
  row(
    'the smallest that is large enough',
    'ok data=y',
    finds(fitting('x').size('9Gi'), fitting('y').size('3Gi'), fitting('z').size('1Gi')),
  ),
  row('among equals by name', 'ok data=x', { ...late, volumes: [fitting('y'), fitting('x')] }),
  row('reserved for another claim', NONE, { ...late, volumes: [fitting('pv').for('other')] }),
  row('reserved for this claim, before smaller ones', 'ok data=y', finds(fitting('x'), fitting('y').size('9Gi').for('data'))),
  row('each claim its own, the small one first', 'ok small=y big=x', {
    classes: [storageClass('late')],
    claims: [claim('big').class('late').asks('2Gi'), claim('small').class('late').asks('1Gi')],
    pod: podWith('p', 'big', 'small'),
    volumes: [fitting('x').size('3Gi'), fitting('y').size('2Gi')],
  }),
  row('selected by labels', 'ok data=y', { ...finds(fitting('x'), gold), claims: [selecting({ matchLabels: { tier: 'gold' } })] }),
]);

const made = { ...late, classes: [storageClass('late', { provisioner: 'driver' })] };
const allowing = (...zones: string[][]) => [
  storageClass('late', {
    provisioner: 'driver',
    allowedTopologies: zones.map((values) => ({ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values }] })),
  }),
];

table('a volume to be made:', [
  row('only where none is found', 'ok data=pv', { ...made, volumes: [fitting('pv')] }),
  row('it is being made for another node', NONE, { ...made, claims: [claim('data').class('late').madeFor('node-b')] }),
  row('where the class does not allow it', NONE, { ...made, classes: allowing(['x'], ['y']), node: node('node-a').zone('z') }),
]);

const counted = { ...made, drivers: [csiDriver('driver', true)] };
const near = (zone: string) => ({ nodeTopology: { matchLabels: { 'topology.kubernetes.io/zone': zone } } });
const inZone = (where: Parameters<typeof csiCapacity>[1], capacity: string) => ({
  ...counted,
  node: node('node-a').zone('a'),
  capacities: [csiCapacity('late', { ...where, capacity })],
});
table('space for a volume to be made:', [
  row('the driver has told nothing yet', NO_SPACE, { ...counted }),
  row('enough near the node', 'ok data@node-a', inZone(near('a'), '2Gi')),
  row('enough elsewhere', NO_SPACE, inZone(near('b'), '9Gi')),
  row('of a size that is not said', NO_SPACE, { ...counted, capacities: [csiCapacity('late', { nodeTopology: {} })] }),
]);

const GA = 'topology.kubernetes.io/zone';

const zoned = (labels: Record<string, string>) => bound(volume('pv').labels(labels));
table('the zone of a volume:', [
  row('is none of several', ZONE, { ...zoned({ [GA]: 'a__b' }), node: node('n').zone('ab') }),
  row('a node with a region alone', ZONE, { ...zoned({ [GA]: 'a' }), node: node('n').labels({ 'topology.kubernetes.io/region': 'r' }) }),
]);

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
  row('GCE, one writes', DISK, { pod: gce('p', 'x', true), here: [gce('q', 'x')] }),
  row('EBS, both read', DISK, { pod: ebs('p', 'x', true), here: [ebs('q', 'x', true)] }),
  row('ISCSI, one target by two portals', DISK, { pod: iscsi('p', 'x'), here: [iscsi('q', 'x')] }),
  row('RBD, one monitor in common', DISK, { pod: rbd('p', ['a', 'b'], 'x'), here: [rbd('q', ['b', 'c'], 'x')] }),
  row('a reservation for the pod does not conflict with it', 'ok', { pod: gce('p', 'x').uid('new'), here: [gce('p', 'x').uid('old')] }),
]);

const alone = { claims: [claim('data').modes('ReadWriteOncePod').to('pv')], volumes: [volume('pv')] };

table('a claim for one pod alone:', [row('a pod of another node has it', IN_USE, { ...alone, pods: [podWith('q', 'data').on('node-b')] })]);

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
  row('as many as the limit allows', 'ok', asks('a', 'b')),
  row('with those that are there', TOO_MANY, { ...asks('a'), ...users('b', 'c') }),
  row('one that is not made yet counts by its class', TOO_MANY, { ...asks('late'), ...users('a b') }),
  row('a node with too many takes what is there already', 'ok', { ...asks('a'), ...users('a b c') }),
  row('a node without a driver that must be there', NOT_INSTALLED, { ...asks('a'), drivers: [required], node: node('node-b') }),
  row('a reservation for the pod does not count', 'ok', { ...csi, ...kept }),
  row('one that is attached without a pod', TOO_MANY, { ...asks('a'), ...users('b'), ...onA('pv-c') }),
]);

const both = (driver: string, source: PersistentVolumeSpec, handle: string, labels: Record<string, string> = {}): World => ({
  claims: ['a', 'b', 'same'].map((name) => claim(name).to(`pv-${name}`)),
  volumes: [volume('pv-a').spec(source).labels(labels), volume('pv-b').csi(driver, 'another'), volume('pv-same').csi(driver, handle)],
  csiNodes: [csiNode('node-a', { [driver]: 1 })],
});
const GCE = 'pd.csi.storage.gke.io';
const zonesOf = { 'failure-domain.beta.kubernetes.io/zone': 'us-a__us-b' };
const migrated = {
  ebsInZone: both('ebs.csi.aws.com', { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1' } }, 'vol-1'),
  gceRegional: both(GCE, { gcePersistentDisk: { pdName: 'd' } }, 'projects/UNSPECIFIED/regions/us/disks/d', zonesOf),
  azure: both('disk.csi.azure.com', { azureDisk: { kind: 'Managed', diskName: 'd', diskURI: '/d' } }, '/d'),
};
const uncounted = both('file.csi.azure.com', { azureFile: { secretName: 's', shareName: 'h' } }, 'h');

table('volumes of in-tree plugins count for the driver that took them over:', [
  ...Object.entries(migrated).flatMap(([name, world]) => [
    row(`${name}, beside one of the driver`, TOO_MANY, { ...world, pod: podWith('p', 'a'), here: [podWith('q', 'b')] }),
    row(`${name}, which the driver knows as well`, 'ok', { ...world, pod: podWith('p', 'a'), here: [podWith('q', 'same')] }),
  ]),
  row('not Azure File', 'ok', { ...uncounted, pod: podWith('p', 'a'), here: [podWith('q', 'b')] }),
  row('a disk that the pod itself names', TOO_MANY, { ...migrated.ebsInZone, pod: ebs('p', 'vol-2'), here: [podWith('q', 'a')] }),
]);

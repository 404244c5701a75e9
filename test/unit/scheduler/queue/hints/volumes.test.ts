import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import type { ClusterEvent, StorageObjects } from '../../../../../scheduler/cluster-event.ts';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { node, pod, type NodeBuilder, type PodBuilder } from '../../builders.ts';

const claimed = (name: string): PodVolume => ({ name: 'data', persistentVolumeClaim: { claimName: name } });
const own: PodVolume = { name: 'own', ephemeral: {} };
const disk = (name: string): PodVolume => ({ name: 'disk', gcePersistentDisk: { pdName: name } });
const using = (path: string, ...volumes: PodVolume[]): PodBuilder => pod(path).spec({ volumes });
const left = (built: PodBuilder): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: podInfoOf(built.on('n').build()) });
const newNode: ClusterEvent = { kind: 'node-added', after: node('n').build() };
const relabelled = (before: NodeBuilder, after: NodeBuilder): ClusterEvent => ({
  kind: 'node-updated',
  before: before.build(),
  after: after.build(),
  changed: new Set(['labels']),
});
function turned<K extends keyof StorageObjects>(
  of: K,
  before: StorageObjects[K] | undefined,
  after: StorageObjects[K] | undefined,
): ClusterEvent {
  return { kind: 'storage-changed', of, before, after } as ClusterEvent;
}
const claim = (name: string, volumeName?: string, namespace = 'default', resourceVersion = '1') => ({
  metadata: { namespace, name, resourceVersion },
  spec: volumeName === undefined ? {} : { volumeName },
});
const volume = (claim?: string, resourceVersion = '1') => ({
  metadata: { name: 'pv', resourceVersion },
  spec: claim === undefined ? {} : { claimRef: { namespace: 'default', name: claim } },
});
const storageClass = (zones: string[], resourceVersion = '1') => ({
  metadata: { name: 'fast', resourceVersion },
  provisioner: 'csi',
  allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: zones }] }],
});
const csiNode = (count: number, resourceVersion = '1') => ({
  metadata: { name: 'n', resourceVersion },
  spec: { drivers: [{ name: 'csi', nodeID: 'n', allocatable: { count } }] },
});
const driver = (storageCapacity: boolean) => ({ metadata: { name: 'csi' }, spec: { storageCapacity } });
const capacity = (capacity: string) => ({ metadata: { name: 'c' }, storageClassName: 'fast', capacity });

const a = using('a', claimed('c'));
const table: { by: Rejector; why: string; pod?: PodBuilder; event: ClusterEvent; yes: boolean }[] = [
  { by: 'VolumeRestrictions', why: 'a pod left that used the claim', event: left(using('b', claimed('c'))), yes: true },
  { by: 'VolumeRestrictions', why: 'a pod left that used another claim', event: left(using('b', claimed('d'))), yes: false },
  { by: 'VolumeRestrictions', why: 'a pod of another namespace left', event: left(using('other/b', claimed('c'))), yes: false },
  {
    by: 'VolumeRestrictions',
    why: 'a pod left with the disk',
    pod: using('a', disk('d')),
    event: left(using('other/b', disk('d'))),
    yes: true,
  },
  {
    by: 'VolumeRestrictions',
    why: 'a pod left with another disk',
    pod: using('a', disk('d')),
    event: left(using('b', disk('e'))),
    yes: false,
  },
  { by: 'VolumeRestrictions', why: 'a node is new, and the claim in use', event: newNode, yes: false },
  { by: 'VolumeRestrictions', why: 'a node is new, without the disk', pod: using('a', disk('d')), event: newNode, yes: true },
  { by: 'VolumeRestrictions', why: 'its claim is new', event: turned('PersistentVolumeClaim', undefined, claim('c')), yes: true },
  { by: 'NodeVolumeLimits', why: 'a pod with volumes left', event: left(using('b', claimed('d'))), yes: true },
  { by: 'NodeVolumeLimits', why: 'a pod without volumes left', event: left(pod('b')), yes: false },
  { by: 'NodeVolumeLimits', why: 'a node is new', event: newNode, yes: true },
  { by: 'NodeVolumeLimits', why: 'a node takes more volumes', event: turned('CSINode', csiNode(1), csiNode(2)), yes: true },
  {
    by: 'NodeVolumeLimits',
    why: 'a node takes as many volumes as before',
    event: turned('CSINode', csiNode(1), csiNode(1, '2')),
    yes: false,
  },
  { by: 'NodeVolumeLimits', why: 'a volume is free', event: turned('PersistentVolume', undefined, volume()), yes: false },
  { by: 'VolumeBinding', why: 'its claim came', event: turned('PersistentVolumeClaim', undefined, claim('c')), yes: true },
  { by: 'VolumeBinding', why: 'its claim is bound', event: turned('PersistentVolumeClaim', claim('c'), claim('c', 'pv')), yes: true },
  {
    by: 'VolumeBinding',
    why: 'its claim has another version',
    event: turned('PersistentVolumeClaim', claim('c'), claim('c', undefined, 'default', '2')),
    yes: false,
  },
  { by: 'VolumeBinding', why: 'its claim is gone', event: turned('PersistentVolumeClaim', claim('c'), undefined), yes: false },
  { by: 'VolumeBinding', why: 'another claim came', event: turned('PersistentVolumeClaim', undefined, claim('d')), yes: false },
  {
    by: 'VolumeBinding',
    why: 'a claim of another namespace came',
    event: turned('PersistentVolumeClaim', undefined, claim('c', undefined, 'other')),
    yes: false,
  },
  {
    by: 'VolumeBinding',
    why: 'a claim made for it came',
    pod: using('a', own),
    event: turned('PersistentVolumeClaim', undefined, claim('a-own')),
    yes: true,
  },
  { by: 'VolumeBinding', why: 'a volume came', event: turned('PersistentVolume', undefined, volume()), yes: true },
  { by: 'VolumeBinding', why: 'a volume of somebody else came', event: turned('PersistentVolume', undefined, volume('d')), yes: false },
  { by: 'VolumeBinding', why: 'a volume is its now', event: turned('PersistentVolume', volume(), volume('c')), yes: true },
  { by: 'VolumeBinding', why: 'a volume is free again', event: turned('PersistentVolume', volume('d'), volume()), yes: true },
  {
    by: 'VolumeBinding',
    why: 'a free volume has another version',
    event: turned('PersistentVolume', volume(), volume(undefined, '2')),
    yes: false,
  },
  { by: 'VolumeBinding', why: 'a volume is gone', event: turned('PersistentVolume', volume(), undefined), yes: false },
  { by: 'VolumeBinding', why: 'a class came', event: turned('StorageClass', undefined, storageClass(['z'])), yes: true },
  {
    by: 'VolumeBinding',
    why: 'a class serves more zones',
    event: turned('StorageClass', storageClass(['y']), storageClass(['y', 'z'])),
    yes: true,
  },
  {
    by: 'VolumeBinding',
    why: 'a class is as it was',
    event: turned('StorageClass', storageClass(['y']), storageClass(['y'], '2')),
    yes: false,
  },
  { by: 'VolumeBinding', why: 'a class is gone', event: turned('StorageClass', storageClass(['y']), undefined), yes: false },
  { by: 'VolumeBinding', why: 'a driver asks for capacity no longer', event: turned('CSIDriver', driver(true), driver(false)), yes: true },
  { by: 'VolumeBinding', why: 'a driver that asked for capacity is gone', event: turned('CSIDriver', driver(true), undefined), yes: true },
  { by: 'VolumeBinding', why: 'a driver is as it was', event: turned('CSIDriver', driver(true), driver(true)), yes: false },
  { by: 'VolumeBinding', why: 'there is more space', event: turned('CSIStorageCapacity', capacity('1Gi'), capacity('2Gi')), yes: true },
  { by: 'VolumeBinding', why: 'there is as much space', event: turned('CSIStorageCapacity', capacity('1Gi'), capacity('1Gi')), yes: false },
  { by: 'VolumeBinding', why: 'space is gone', event: turned('CSIStorageCapacity', capacity('1Gi'), undefined), yes: false },
  { by: 'VolumeBinding', why: 'drivers of a node are others', event: turned('CSINode', undefined, csiNode(1)), yes: true },
  { by: 'VolumeBinding', why: 'a node is new', event: newNode, yes: true },
  { by: 'VolumeBinding', why: 'a node has another label', event: relabelled(node('n'), node('n').labels({ x: 'y' })), yes: true },
  { by: 'VolumeBinding', why: 'a pod left', event: left(using('b', claimed('d'))), yes: false },
  { by: 'VolumeZone', why: 'a node is new', event: newNode, yes: true },
  { by: 'VolumeZone', why: 'a node is in another zone', event: relabelled(node('n').zone('y'), node('n').zone('z')), yes: true },
  {
    by: 'VolumeZone',
    why: 'a node has another label',
    event: relabelled(node('n').zone('y'), node('n').zone('y').labels({ x: 'y' })),
    yes: false,
  },
  { by: 'VolumeZone', why: 'its claim is bound', event: turned('PersistentVolumeClaim', claim('c'), claim('c', 'pv')), yes: true },
  { by: 'VolumeZone', why: 'a volume for its claim came', event: turned('PersistentVolume', undefined, volume('c')), yes: true },
  { by: 'VolumeZone', why: 'a free volume came', event: turned('PersistentVolume', undefined, volume()), yes: false },
  { by: 'VolumeZone', why: 'a class came', event: turned('StorageClass', undefined, storageClass([])), yes: false },
];

const hints = createHints({ namespaceLabels: () => undefined });
for (const c of table)
  test(`${c.by} ${c.yes ? 'may let a pod pass' : 'refuses still'} when ${c.why}`, () => {
    assert.equal(hints.get(c.by)?.(podInfoOf((c.pod ?? a).build()), c.event, undefined), c.yes);
  });

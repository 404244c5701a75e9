import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import type { ClusterEvent, StorageObjects } from '../../../../../scheduler/types.ts';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { node, pod, type PodBuilder } from '../../builders.ts';
import { changed, left, newNode as added } from './rows.ts';

const claimed = (name: string): PodVolume => ({ name: 'data', persistentVolumeClaim: { claimName: name } });
const own: PodVolume = { name: 'own', ephemeral: {} };
const disk = (name: string): PodVolume => ({ name: 'disk', gcePersistentDisk: { pdName: name } });
const using = (path: string, ...volumes: PodVolume[]): PodBuilder => pod(path).spec({ volumes });
const newNode = added(node('n'));
const relabelled = changed.bind(undefined, 'labels');
function turned<K extends keyof StorageObjects>(of: K, before?: StorageObjects[K], after?: StorageObjects[K]): ClusterEvent {
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
const attachment = { metadata: { name: 'va' }, spec: { attacher: 'csi', nodeName: 'n', source: { persistentVolumeName: 'pv' } } };
const driver = (storageCapacity: boolean, preventPodSchedulingIfMissing = false) => ({
  metadata: { name: 'csi' },
  spec: { storageCapacity, preventPodSchedulingIfMissing },
});
const capacity = (capacity: string, most?: string) => ({
  metadata: { name: 'c' },
  storageClassName: 'fast',
  capacity,
  ...(most !== undefined && { maximumVolumeSize: most }),
});

const a = using('a', claimed('c'));
const row =
  (yes: boolean) =>
  (by: Rejector, why: string, event: ClusterEvent, of: PodBuilder = a) => ({ by, why, event, of, yes });
const [helps, fails] = [row(true), row(false)];

const table = [
  helps('VolumeRestrictions', 'a pod left that used the claim', left(using('b', claimed('c')))),
  helps('VolumeRestrictions', 'a pod left with the disk', left(using('other/b', disk('d'))), using('a', disk('d'))),
  helps('VolumeRestrictions', 'a node is new, without the disk', newNode, using('a', disk('d'))),
  helps('VolumeZone', 'a class is new', turned('StorageClass', undefined, storageClass([]))),
  fails('VolumeZone', 'a class says something else', turned('StorageClass', storageClass([]), storageClass(['a']))),
  helps('NodeVolumeLimits', 'a pod with volumes left', left(using('b', claimed('d')))),
  fails('NodeVolumeLimits', 'a pod without volumes left', left(pod('b'))),
  helps('NodeVolumeLimits', 'a driver need not be there any more', turned('CSIDriver', driver(true, true), driver(true))),
  helps('NodeVolumeLimits', 'a node takes more volumes', turned('CSINode', csiNode(1), csiNode(2))),
  helps('NodeVolumeLimits', 'a volume was detached', turned('VolumeAttachment', attachment, undefined)),
  fails('NodeVolumeLimits', 'a volume was attached', turned('VolumeAttachment', undefined, attachment)),
  helps('VolumeBinding', 'its claim is bound', turned('PersistentVolumeClaim', claim('c'), claim('c', 'pv'))),
  fails('VolumeBinding', 'its claim is gone', turned('PersistentVolumeClaim', claim('c'), undefined)),
  fails('VolumeBinding', 'a claim of another namespace came', turned('PersistentVolumeClaim', undefined, claim('c', undefined, 'other'))),
  helps('VolumeBinding', 'a claim made for it came', turned('PersistentVolumeClaim', undefined, claim('a-own')), using('a', own)),
  helps('VolumeBinding', 'a volume came', turned('PersistentVolume', undefined, volume())),
  fails('VolumeBinding', 'a volume of somebody else came', turned('PersistentVolume', undefined, volume('d'))),
  helps('VolumeBinding', 'a volume is free again', turned('PersistentVolume', volume('d'), volume())),
  fails('VolumeBinding', 'a free volume has another version', turned('PersistentVolume', volume(), volume(undefined, '2'))),
  helps('VolumeBinding', 'a class serves more zones', turned('StorageClass', storageClass(['y']), storageClass(['y', 'z']))),
  fails('VolumeBinding', 'a class is as it was', turned('StorageClass', storageClass(['y']), storageClass(['y'], '2'))),
  helps('VolumeBinding', 'a driver asks for capacity no longer', turned('CSIDriver', driver(true), driver(false))),
  fails('VolumeBinding', 'a driver is as it was', turned('CSIDriver', driver(true), driver(true))),
  helps('VolumeBinding', 'there is more space', turned('CSIStorageCapacity', capacity('1Gi'), capacity('2Gi'))),
  fails('VolumeBinding', 'there is less space', turned('CSIStorageCapacity', capacity('2Gi'), capacity('1Gi'))),
  helps('VolumeBinding', 'volumes may be larger', turned('CSIStorageCapacity', capacity('9Gi', '1Gi'), capacity('9Gi', '2Gi'))),
  fails('VolumeBinding', 'space is gone', turned('CSIStorageCapacity', capacity('1Gi'), undefined)),
  helps('VolumeBinding', 'drivers of a node are others', turned('CSINode', undefined, csiNode(1))),
  helps('VolumeBinding', 'a node has another label', relabelled(node('n'), node('n').labels({ x: 'y' }))),
  fails('VolumeBinding', 'a pod left', left(using('b', claimed('d')))),
  helps('VolumeZone', 'a node is in another zone', relabelled(node('n').zone('y'), node('n').zone('z'))),
  fails('VolumeZone', 'a node has another label', relabelled(node('n').zone('y'), node('n').zone('y').labels({ x: 'y' }))),
  helps('VolumeZone', 'a volume for its claim came', turned('PersistentVolume', undefined, volume('c'))),
];

const hints = createHints({ namespaceLabels: () => undefined });
for (const c of table)
  test(`${c.by} ${c.yes ? 'may let a pod pass' : 'refuses still'} when ${c.why}`, () => {
    assert.equal(hints.get(c.by)?.(podInfoOf(c.of.build()), c.event, undefined), c.yes);
  });

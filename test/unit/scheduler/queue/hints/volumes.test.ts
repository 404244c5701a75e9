import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import type { ClusterEvent, StorageObjects } from '../../../../../scheduler/types.ts';
import { node, pod, type PodBuilder } from '../../builders.ts';
import { changed, left, newNode } from './rows.ts';

const claimed = (name: string): PodVolume => ({ name: 'data', persistentVolumeClaim: { claimName: name } });
const own: PodVolume = { name: 'own', ephemeral: {} };
const disk = (name: string): PodVolume => ({ name: 'disk', gcePersistentDisk: { pdName: name } });
const using = (path: string, ...volumes: PodVolume[]): PodBuilder => pod(path).spec({ volumes });
function turned<K extends keyof StorageObjects>(of: K, before?: StorageObjects[K], after?: StorageObjects[K]): ClusterEvent {
  return { kind: 'storage-changed', of, before, after } as ClusterEvent;
}
const claim = (name: string, volumeName?: string) => ({
  metadata: { namespace: 'default', name },
  spec: volumeName === undefined ? {} : { volumeName },
});
const volume = (name?: string) => ({
  metadata: { name: 'pv' },
  spec: name === undefined ? {} : { claimRef: { namespace: 'default', name } },
});
const zones = (...values: string[]) => {
  const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values }] }];
  return { metadata: { name: 'fast' }, provisioner: 'csi', allowedTopologies };
};
const csiNode = (count: number) => ({ metadata: { name: 'n' }, spec: { drivers: [{ name: 'csi', nodeID: 'n', allocatable: { count } }] } });
const attachment = { metadata: { name: 'va' }, spec: { attacher: 'csi', nodeName: 'n', source: { persistentVolumeName: 'pv' } } };
const driver = (storageCapacity: boolean, preventPodSchedulingIfMissing = false) => {
  return { metadata: { name: 'csi' }, spec: { storageCapacity, preventPodSchedulingIfMissing } };
};
const space = (capacity: string, most?: string) => {
  return { metadata: { name: 'c' }, storageClassName: 'fast', capacity, ...(most !== undefined && { maximumVolumeSize: most }) };
};

const a = using('a', claimed('c'));
const came = newNode(node('n'));
const inZone = (from: string, to: string) => changed('labels', node('n').zone(from), node('n').zone(to));
const rows: [by: Rejector, yes: boolean, why: string, event: ClusterEvent, of?: PodBuilder][] = [
  ['VolumeRestrictions', true, 'a pod left that used the claim', left(using('b', claimed('c')))],
  ['VolumeRestrictions', false, 'a pod left that used another claim', left(using('b', claimed('d')))],
  ['VolumeRestrictions', true, 'a pod left with the disk', left(using('other/b', disk('d'))), using('a', disk('d'))],
  ['VolumeRestrictions', false, 'a node is new, and the claim in use', came],
  ['VolumeRestrictions', true, 'a node is new, without the disk', came, using('a', disk('d'))],
  ['VolumeRestrictions', true, 'its claim is new', turned('PersistentVolumeClaim', undefined, claim('c'))],
  ['NodeVolumeLimits', true, 'a node is new', came],
  ['NodeVolumeLimits', true, 'a pod with volumes left', left(using('b', claimed('d')))],
  ['NodeVolumeLimits', false, 'a pod without volumes left', left(pod('b'))],
  ['NodeVolumeLimits', true, 'a driver need not be there any more', turned('CSIDriver', driver(true, true), driver(true))],
  ['NodeVolumeLimits', true, 'a node takes more volumes', turned('CSINode', csiNode(1), csiNode(2))],
  ['NodeVolumeLimits', true, 'a volume was detached', turned('VolumeAttachment', attachment, undefined)],
  ['NodeVolumeLimits', false, 'a volume was attached', turned('VolumeAttachment', undefined, attachment)],
  ['VolumeBinding', true, 'a node is new', came],
  ['VolumeBinding', true, 'its claim is bound', turned('PersistentVolumeClaim', claim('c'), claim('c', 'pv'))],
  ['VolumeBinding', false, 'its claim is gone', turned('PersistentVolumeClaim', claim('c'), undefined)],
  ['VolumeBinding', true, 'a claim made for it came', turned('PersistentVolumeClaim', undefined, claim('a-own')), using('a', own)],
  ['VolumeBinding', true, 'a volume is free again', turned('PersistentVolume', volume('d'), volume())],
  ['VolumeBinding', false, 'a volume of somebody else came', turned('PersistentVolume', undefined, volume('d'))],
  ['VolumeBinding', false, 'a volume was detached', turned('VolumeAttachment', attachment, undefined)],
  ['VolumeBinding', true, 'a class serves more zones', turned('StorageClass', zones('y'), zones('y', 'z'))],
  ['VolumeBinding', false, 'a class is as it was', turned('StorageClass', zones('y'), zones('y'))],
  ['VolumeBinding', true, 'a driver asks for capacity no longer', turned('CSIDriver', driver(true), driver(false))],
  ['VolumeBinding', true, 'there is more space', turned('CSIStorageCapacity', space('1Gi'), space('2Gi'))],
  ['VolumeBinding', false, 'there is less space', turned('CSIStorageCapacity', space('2Gi'), space('1Gi'))],
  ['VolumeBinding', true, 'volumes may be larger', turned('CSIStorageCapacity', space('9Gi', '1Gi'), space('9Gi', '2Gi'))],
  ['VolumeBinding', true, 'a node has another label', changed('labels', node('n'), node('n').labels({ x: 'y' }))],
  ['VolumeZone', true, 'a node is new', came],
  ['VolumeZone', true, 'a node is in another zone', inZone('y', 'z')],
  ['VolumeZone', true, 'a volume for its claim came', turned('PersistentVolume', undefined, volume('c'))],
  ['VolumeZone', true, 'a class is new', turned('StorageClass', undefined, zones())],
];
const hints = createHints({ namespaceLabels: () => undefined });
for (const [by, yes, why, event, of = a] of rows)
  test(`${by} ${yes ? 'may let a pod pass' : 'refuses still'} when ${why}`, () =>
    assert.equal(hints.get(by)?.(podInfoOf(of.build()), event, undefined), yes));

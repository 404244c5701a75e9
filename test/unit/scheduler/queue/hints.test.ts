import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, TopologySpreadConstraint, Volume as PodVolume } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { ClusterEvent, NodeAspect, StorageObjects } from '../../../../scheduler/types.ts';
import { type NodeBuilder, type PodBuilder, node, pod } from '../builders.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { createHints } from '../../../../scheduler/queue/hints.ts';
import { shortIn } from '../../../../scheduler/queue/hints/node.ts';

/** A pod that was refused, and what happened since. */
interface Row {
  readonly why: string;
  readonly of: PodBuilder;
  readonly event: ClusterEvent;
  /** The event may help the pod: it is tried again. */
  readonly yes: boolean;
  readonly short: readonly string[] | undefined;
}

const row = (yes: boolean, why: string, of: PodBuilder, event: ClusterEvent, short?: string[]): Row => ({
  yes,
  why,
  of,
  event,
  short,
});

const info = (built: PodBuilder) => podInfoOf(built.build());
const came = (built: PodBuilder): ClusterEvent => ({ kind: 'assigned-pod-added', after: info(built.on('n')) });
const left = (built: PodBuilder): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: info(built.on('n')) });
const turned = (before: PodBuilder, after: PodBuilder): ClusterEvent => ({
  kind: 'assigned-pod-updated',
  before: info(before.on('n')),
  after: info(after.on('n')),
});
const newNode = (built: NodeBuilder): ClusterEvent => ({ kind: 'node-added', after: built.build() });
const noNode = (built: NodeBuilder): ClusterEvent => ({ kind: 'node-deleted', before: built.build() });
const changed = (aspect: NodeAspect, before: NodeBuilder, after: NodeBuilder): ClusterEvent => ({
  kind: 'node-updated',
  before: before.build(),
  after: after.build(),
  changed: new Set([aspect]),
});
const namespace = (name: string, before: Record<string, string>, labels: Record<string, string>): ClusterEvent => ({
  kind: 'namespace-changed',
  before: { metadata: { name, labels: before } },
  after: { metadata: { name, labels } },
});

const ZONE = 'topology.kubernetes.io/zone';
const GPU = 'example.com/gpu';
const [n, p] = [() => node('n'), () => pod('a')];
const a = () => pod('b').labels({ app: 'a' });
const app = (name: string) => ({ matchLabels: { app: name } });
const t = { key: 't', effect: 'NoSchedule' };
const sharing = p().spec({ hostNetwork: true, hostUsers: false });
const declaring = () => n().declares('UserNamespacesHostNetworkSupport');
const picky = p().spec({ schedulerName: 'picky' });
const spread = (more: Partial<TopologySpreadConstraint> = {}) =>
  p().spec({
    topologySpreadConstraints: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: app('a'), ...more }],
  });
const terms = (term: Partial<PodAffinityTerm>, more: PodAffinityTerm[] = []) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }, ...more],
});
const friendly = (more: Partial<PodAffinityTerm> = {}, others: PodAffinityTerm[] = []) =>
  p().affinity({ podAffinity: terms({ labelSelector: app('a'), ...more }, others) });
const hostile = (to = 'a', of: PodBuilder = p()) => of.affinity({ podAntiAffinity: terms({ labelSelector: app(to) }) });
const ofNamespaces = (matchLabels: Record<string, string>) => friendly({ namespaceSelector: { matchLabels } });
const zoned = (zone = 'z') => n().zone(zone);

const tables: Partial<Record<Rejector, readonly Row[]>> = {
  Extender: [row(true, 'anything happens', p(), noNode(n()))],
  SchedulingGates: [row(false, 'anything happens', p(), newNode(n()))],
  GangScheduling: [row(false, 'anything happens', p(), newNode(n()))],
  NodeDeclaredFeatures: [row(true, 'a node declares them', sharing, changed('features', n(), declaring()))],
  DynamicResources: [
    row(false, 'anything happens to a pod with claims', p().spec({ resourceClaims: [{ name: 'c' }] }), newNode(n())),
    row(true, 'a node gets the device', p().asks(GPU, '1'), changed('allocatable', n().has(GPU, '0'), n().has(GPU, '1'))),
  ],
  NodeName: [row(true, 'its node is new', p().on('n'), newNode(n())), row(false, 'a pod left', p(), left(pod('b')))],
  NodeUnschedulable: [
    row(true, 'a node is new', p(), newNode(n())),
    row(false, 'a node is new, and cordoned', p(), newNode(n().cordoned())),
    row(false, 'the pod minds no cordon', p().tolerates({ operator: 'Exists' }), changed('taints', n().cordoned(), n())),
  ],
  TaintToleration: [
    row(true, 'a taint is gone', p(), changed('taints', n().taints(t), n())),
    row(false, 'a node is new, and tainted', p(), newNode(n().taints(t))),
    row(false, 'a taint is gone that was a wish only', p(), changed('taints', n().taints({ ...t, effect: 'PreferNoSchedule' }), n())),
  ],
  NodeAffinity: [
    row(true, 'a node matches now', p().selects({ x: 'y' }), changed('labels', n(), n().labels({ x: 'y' }))),
    row(false, 'a node matches no longer', p().selects({ x: 'y' }), changed('labels', n().labels({ x: 'y' }), n())),
    row(true, 'a node has what the profile asks for', picky, changed('labels', n(), n().labels({ good: '' }))),
  ],
  NodePorts: [
    row(true, 'a pod left with the port', p().port(80), left(pod('b').port(80, 'TCP', '10.0.0.1'))),
    row(true, 'a node is new', p().port(80), newNode(n())),
  ],
  NodeResourcesFit: [
    row(true, 'a pod left that held what was short', p().cpu('1'), left(pod('b').cpu('1m')), ['cpu']),
    row(true, 'a pod asks for less', p().cpu('1'), turned(pod('b').cpu('2'), pod('b').cpu('1'))),
    row(true, 'a node has more cpu', p().cpu('2'), changed('allocatable', n().cpu('1'), n().cpu('2'))),
    row(false, 'a pod left that held nothing of what was short', p().cpu('1'), left(pod('b').memory('1Gi')), ['cpu']),
    row(true, 'a pod left its place, and that was short', p().cpu('1'), left(pod('b')), ['pods', 'memory']),
    row(false, 'a node is new, and too small', p().cpu('4001m'), newNode(n())),
    row(true, 'a node is new, and lacks what somebody else looks after', p().asks('example.com/ignored', '1'), newNode(n())),
    row(false, 'a node has more cpu, and too little still', p().cpu('3'), changed('allocatable', n().cpu('1'), n().cpu('2'))),
  ],
  PodTopologySpread: [
    row(true, 'a pod that is counted came', spread(), came(a())),
    row(true, 'a pod that is counted left', spread(), left(a())),
    row(true, 'a pod came to be counted', spread(), turned(pod('b'), a())),
    row(true, 'a node is new in a zone', spread(), newNode(zoned())),
    row(true, 'a node of a zone is gone', spread(), noNode(zoned())),
    row(false, 'a node without a zone is gone', spread(), noNode(n())),
    row(
      true,
      'a taint is gone that kept a node from being counted',
      spread({ nodeTaintsPolicy: 'Honor' }),
      changed('taints', zoned().taints(t), zoned()),
    ),
    row(false, 'a pod that is not counted came', spread(), came(pod('b'))),
    row(false, 'a pod that is counted has one more label', spread(), turned(a(), a().labels({ x: 'y' }))),
    row(false, 'the rule is a wish only', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), came(a())),
  ],
  InterPodAffinity: [
    row(true, 'somebody became a friend', friendly(), turned(pod('b'), a())),
    row(true, 'the last of its kind may have left', a().affinity({ podAffinity: terms({ labelSelector: app('a') }) }), left(a())),
    row(true, 'one it keeps away from left', hostile(), left(a())),
    row(true, 'one it keeps away from is that no longer', hostile(), turned(a(), pod('b'))),
    row(false, 'a friend has one more label', friendly(), turned(a(), a().labels({ x: 'y' }))),
    row(true, 'its own namespace has another label', a(), namespace('default', {}, { x: 'y' })),
    row(false, 'its own namespace has the same labels', a(), namespace('default', { x: 'y' }, { x: 'y' })),
    row(true, 'one left that kept away from it', a(), left(hostile('a', pod('c')))),
    row(true, 'a node is new, in a zone', friendly(), newNode(zoned())),
    row(true, 'a node is in another zone of pods that keep away', a(), changed('labels', zoned('y'), zoned())),
    row(true, 'a node is gone with its pods', a(), noNode(n())),
    row(true, 'a namespace came to be meant', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'y' })),
    row(false, 'somebody else came', friendly(), came(pod('b'))),
    row(false, 'a friend of one term of two came', friendly({}, [{ topologyKey: 'rack', labelSelector: app('b') }]), came(a())),
    row(true, 'a friend came to a namespace that is meant', ofNamespaces({ stage: 'test' }), came(pod('tested/b').labels({ app: 'a' }))),
    row(false, 'a node is new, in the domain of nobody it wants to be near to', friendly(), newNode(n())),
  ],
};

const hints = createHints({
  namespaceLabels: (name) => (name === 'tested' ? { stage: 'test' } : {}),
  isAntiKey: (key) => key === ZONE,
  addedAffinity: (profile) =>
    profile === 'picky' ? { nodeSelectorTerms: [{ matchExpressions: [{ key: 'good', operator: 'Exists' }] }] } : undefined,
  ignores: (_, resource) => resource === 'example.com/ignored',
});

for (const [rejector, rows] of Object.entries(tables) as [Rejector, readonly Row[]][])
  for (const { yes, why, of, event, short } of rows)
    test(`${rejector} ${yes ? 'may let a pod pass' : 'refuses still'} when ${why}`, () =>
      assert.equal(hints.get(rejector)?.(podInfoOf(of.build()), event, short && new Set(short)), yes));

test('what was short is read from the reasons', () => {
  const reasons = ['Too many pods', 'Insufficient cpu', 'Insufficient example.com/gpu', 'something else'];
  assert.deepEqual(shortIn(reasons), new Set(['pods', 'cpu', 'example.com/gpu']));
});

const claimed = (name: string): PodVolume => ({ name: 'data', persistentVolumeClaim: { claimName: name } });
const own: PodVolume = { name: 'own', ephemeral: {} };

const using = (path: string, ...volumes: PodVolume[]): PodBuilder => pod(path).spec({ volumes });
function changedStorage<K extends keyof StorageObjects>(of: K, before?: StorageObjects[K], after?: StorageObjects[K]): ClusterEvent {
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

const claiming = using('a', claimed('c'));
const fresh = newNode(node('n'));
const inZone = (from: string, to: string) => changed('labels', node('n').zone(from), node('n').zone(to));
const rows: [by: Rejector, yes: boolean, why: string, event: ClusterEvent, of?: PodBuilder][] = [
  ['VolumeRestrictions', true, 'a pod left that used the claim', left(using('b', claimed('c')))],
  ['VolumeRestrictions', false, 'a pod left that used another claim', left(using('b', claimed('d')))],
  ['VolumeRestrictions', false, 'a node is new, and the claim in use', fresh],
  ['VolumeRestrictions', true, 'its claim is new', changedStorage('PersistentVolumeClaim', undefined, claim('c'))],
  ['NodeVolumeLimits', true, 'a pod with volumes left', left(using('b', claimed('d')))],
  ['NodeVolumeLimits', false, 'a pod without volumes left', left(pod('b'))],
  ['NodeVolumeLimits', true, 'a driver need not be there any more', changedStorage('CSIDriver', driver(true, true), driver(true))],
  ['NodeVolumeLimits', true, 'a node takes more volumes', changedStorage('CSINode', csiNode(1), csiNode(2))],
  ['NodeVolumeLimits', true, 'a volume was detached', changedStorage('VolumeAttachment', attachment, undefined)],
  ['VolumeBinding', true, 'a node is new', fresh],
  ['VolumeBinding', true, 'its claim is bound', changedStorage('PersistentVolumeClaim', claim('c'), claim('c', 'pv'))],
  ['VolumeBinding', true, 'a claim made for it came', changedStorage('PersistentVolumeClaim', undefined, claim('a-own')), using('a', own)],
  ['VolumeBinding', true, 'a volume is free again', changedStorage('PersistentVolume', volume('d'), volume())],
  ['VolumeBinding', false, 'a volume of somebody else came', changedStorage('PersistentVolume', undefined, volume('d'))],
  ['VolumeBinding', false, 'a volume was detached', changedStorage('VolumeAttachment', attachment, undefined)],
  ['VolumeBinding', true, 'a class serves more zones', changedStorage('StorageClass', zones('y'), zones('y', 'z'))],
  ['VolumeBinding', true, 'a driver asks for capacity no longer', changedStorage('CSIDriver', driver(true), driver(false))],
  ['VolumeBinding', true, 'there is more space', changedStorage('CSIStorageCapacity', space('1Gi'), space('2Gi'))],
  ['VolumeZone', true, 'a node is new', fresh],
  ['VolumeZone', true, 'a node is in another zone', inZone('y', 'z')],
  ['VolumeZone', true, 'a volume for its claim came', changedStorage('PersistentVolume', undefined, volume('c'))],
];
const plain = createHints({ namespaceLabels: () => undefined });
for (const [by, yes, why, event, of = claiming] of rows)
  test(`${by} ${yes ? 'may let a pod pass' : 'refuses still'} when ${why}`, () =>
    assert.equal(plain.get(by)?.(podInfoOf(of.build()), event, undefined), yes));

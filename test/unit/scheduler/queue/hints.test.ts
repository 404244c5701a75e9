import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { ClusterEvent, NodeAspect, StorageObjects } from '../../../../scheduler/types.ts';
import { type NodeBuilder, type PodBuilder, node, pod } from '../builders.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { createHints } from '../../../../scheduler/queue/hints.ts';
import { attached, claim, csiCapacity, csiDriver, csiNode, podWith, storageClass, volume } from '../volumes/storage-builders.ts';
import { shortIn } from '../../../../scheduler/queue/hints/node.ts';

/** Who refused a pod, what happened since, and whether that may help: then the pod is tried again. */
type Row = [by: Rejector, yes: boolean, why: string, of: PodBuilder, event: ClusterEvent, short?: string[]];

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
const wished = n().taints({ ...t, effect: 'PreferNoSchedule' });
const moreCpu = changed('allocatable', n().cpu('1'), n().cpu('2'));
const honoring = spread({ nodeTaintsPolicy: 'Honor' });
const rackOfB = { topologyKey: 'rack', labelSelector: app('b') };
const inTested = pod('tested/b').labels({ app: 'a' });

const rows: Row[] = [
  ['Extender', true, 'anything happens', p(), noNode(n())],
  ['SchedulingGates', false, 'anything happens', p(), newNode(n())],
  ['GangScheduling', false, 'anything happens', p(), newNode(n())],
  ['NodeDeclaredFeatures', true, 'a node declares them', sharing, changed('features', n(), declaring())],
  ['DynamicResources', false, 'anything happens to a pod with claims', p().spec({ resourceClaims: [{ name: 'c' }] }), newNode(n())],
  ['DynamicResources', true, 'a node gets the device', p().asks(GPU, '1'), changed('allocatable', n().has(GPU, '0'), n().has(GPU, '1'))],
  ['NodeName', true, 'its node is new', p().on('n'), newNode(n())],
  ['NodeName', false, 'a pod left', p(), left(pod('b'))],
  ['NodeUnschedulable', true, 'a node is new', p(), newNode(n())],
  ['NodeUnschedulable', false, 'a node is new, and cordoned', p(), newNode(n().cordoned())],
  ['NodeUnschedulable', false, 'the pod minds no cordon', p().tolerates({ operator: 'Exists' }), changed('taints', n().cordoned(), n())],
  ['TaintToleration', true, 'a taint is gone', p(), changed('taints', n().taints(t), n())],
  ['TaintToleration', false, 'a node is new, and tainted', p(), newNode(n().taints(t))],
  ['TaintToleration', false, 'a taint is gone that was a wish only', p(), changed('taints', wished, n())],
  ['NodeAffinity', true, 'a node matches now', p().selects({ x: 'y' }), changed('labels', n(), n().labels({ x: 'y' }))],
  ['NodeAffinity', false, 'a node matches no longer', p().selects({ x: 'y' }), changed('labels', n().labels({ x: 'y' }), n())],
  ['NodeAffinity', true, 'a node has what the profile asks for', picky, changed('labels', n(), n().labels({ good: '' }))],
  ['NodePorts', true, 'a pod left with the port', p().port(80), left(pod('b').port(80, 'TCP', '10.0.0.1'))],
  ['NodePorts', true, 'a node is new', p().port(80), newNode(n())],
  ['NodeResourcesFit', true, 'a pod left that held what was short', p().cpu('1'), left(pod('b').cpu('1m')), ['cpu']],
  ['NodeResourcesFit', true, 'a pod asks for less', p().cpu('1'), turned(pod('b').cpu('2'), pod('b').cpu('1'))],
  ['NodeResourcesFit', true, 'a node has more cpu', p().cpu('2'), moreCpu],
  ['NodeResourcesFit', false, 'a pod left that held nothing of what was short', p().cpu('1'), left(pod('b').memory('1Gi')), ['cpu']],
  ['NodeResourcesFit', true, 'a pod left its place, and that was short', p().cpu('1'), left(pod('b')), ['pods', 'memory']],
  ['NodeResourcesFit', false, 'a node is new, and too small', p().cpu('4001m'), newNode(n())],
  ['NodeResourcesFit', true, 'a node is new, and lacks what somebody else looks after', p().asks('example.com/ignored', '1'), newNode(n())],
  ['NodeResourcesFit', false, 'a node has more cpu, and too little still', p().cpu('3'), moreCpu],
  ['PodTopologySpread', true, 'a pod that is counted came', spread(), came(a())],
  ['PodTopologySpread', true, 'a pod that is counted left', spread(), left(a())],
  ['PodTopologySpread', true, 'a pod came to be counted', spread(), turned(pod('b'), a())],
  ['PodTopologySpread', true, 'a node is new in a zone', spread(), newNode(zoned())],
  ['PodTopologySpread', true, 'a node of a zone is gone', spread(), noNode(zoned())],
  ['PodTopologySpread', false, 'a node without a zone is gone', spread(), noNode(n())],
  [
    'PodTopologySpread',
    true,
    'a taint is gone that kept a node from being counted',
    honoring,
    changed('taints', zoned().taints(t), zoned()),
  ],
  ['PodTopologySpread', false, 'a pod that is not counted came', spread(), came(pod('b'))],
  ['PodTopologySpread', false, 'a pod that is counted has one more label', spread(), turned(a(), a().labels({ x: 'y' }))],
  ['PodTopologySpread', false, 'the rule is a wish only', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), came(a())],
  ['InterPodAffinity', true, 'somebody became a friend', friendly(), turned(pod('b'), a())],
  ['InterPodAffinity', true, 'the last of its kind may have left', friendly().labels({ app: 'a' }), left(a())],
  ['InterPodAffinity', true, 'one it keeps away from left', hostile(), left(a())],
  ['InterPodAffinity', true, 'one it keeps away from is that no longer', hostile(), turned(a(), pod('b'))],
  ['InterPodAffinity', false, 'a friend has one more label', friendly(), turned(a(), a().labels({ x: 'y' }))],
  ['InterPodAffinity', true, 'its own namespace has another label', a(), namespace('default', {}, { x: 'y' })],
  ['InterPodAffinity', false, 'its own namespace has the same labels', a(), namespace('default', { x: 'y' }, { x: 'y' })],
  ['InterPodAffinity', true, 'one left that kept away from it', a(), left(hostile('a', pod('c')))],
  ['InterPodAffinity', true, 'a node is new, in a zone', friendly(), newNode(zoned())],
  ['InterPodAffinity', true, 'a node is in another zone of pods that keep away', a(), changed('labels', zoned('y'), zoned())],
  ['InterPodAffinity', true, 'a node is gone with its pods', a(), noNode(n())],
  ['InterPodAffinity', true, 'a namespace came to be meant', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'y' })],
  ['InterPodAffinity', false, 'somebody else came', friendly(), came(pod('b'))],
  ['InterPodAffinity', false, 'a friend of one term of two came', friendly({}, [rackOfB]), came(a())],
  ['InterPodAffinity', true, 'a friend came to a namespace that is meant', ofNamespaces({ stage: 'test' }), came(inTested)],
  ['InterPodAffinity', false, 'a node is new, in the domain of nobody it wants to be near to', friendly(), newNode(n())],
];

const hints = createHints({
  namespaceLabels: (name) => (name === 'tested' ? { stage: 'test' } : {}),
  isAntiKey: (key) => key === ZONE,
  addedAffinity: (profile) =>
    profile === 'picky' ? { nodeSelectorTerms: [{ matchExpressions: [{ key: 'good', operator: 'Exists' }] }] } : undefined,
  ignores: (_, resource) => resource === 'example.com/ignored',
});

test('the resources that were short are read from the reasons', () => {
  const reasons = ['Too many pods', 'Insufficient cpu', 'Insufficient example.com/gpu', 'something else'];
  assert.deepEqual(shortIn(reasons), new Set(['pods', 'cpu', 'example.com/gpu']));
});

function stored<K extends keyof StorageObjects>(of: K, before?: StorageObjects[K], after?: StorageObjects[K]): ClusterEvent {
  return { kind: 'storage-changed', of, before, after } as ClusterEvent;
}
const zones = (...values: string[]) => storageClass('fast', { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values }] }] });
const driver = (...of: [counts: boolean, mustBeThere?: boolean]) => csiDriver('csi', ...of);
const space = (capacity: string) => csiCapacity('fast', { capacity });

const claiming = podWith('a', 'c');
const withOwn = pod('a').spec({ volumes: [{ name: 'own', ephemeral: {} }] });
const fresh = newNode(node('n'));
const inZone = (from: string, to: string) => changed('labels', node('n').zone(from), node('n').zone(to));
const ofStorage: [by: Rejector, yes: boolean, why: string, event: ClusterEvent, of?: PodBuilder][] = [
  ['VolumeRestrictions', true, 'a pod left that used the claim', left(podWith('b', 'c'))],
  ['VolumeRestrictions', false, 'a pod left that used another claim', left(podWith('b', 'd'))],
  ['VolumeRestrictions', false, 'a node is new, and the claim in use', fresh],
  ['VolumeRestrictions', true, 'its claim is new', stored('PersistentVolumeClaim', undefined, claim('c').build())],
  ['NodeVolumeLimits', true, 'a pod with volumes left', left(podWith('b', 'd'))],
  ['NodeVolumeLimits', false, 'a pod without volumes left', left(pod('b'))],
  ['NodeVolumeLimits', true, 'a driver need not be there any more', stored('CSIDriver', driver(true, true), driver(true))],
  ['NodeVolumeLimits', true, 'a node takes more volumes', stored('CSINode', csiNode('n', { csi: 1 }), csiNode('n', { csi: 2 }))],
  ['NodeVolumeLimits', true, 'a volume was detached', stored('VolumeAttachment', attached('pv', 'n'))],
  ['VolumeBinding', true, 'a node is new', fresh],
  ['VolumeBinding', true, 'its claim is bound', stored('PersistentVolumeClaim', claim('c').build(), claim('c').to('pv').build())],
  ['VolumeBinding', true, 'a claim made for it came', stored('PersistentVolumeClaim', undefined, claim('a-own').build()), withOwn],
  ['VolumeBinding', true, 'a volume is free again', stored('PersistentVolume', volume('pv').for('d').build(), volume('pv').build())],
  ['VolumeBinding', false, 'a volume of somebody else came', stored('PersistentVolume', undefined, volume('pv').for('d').build())],
  ['VolumeBinding', false, 'a volume was detached', stored('VolumeAttachment', attached('pv', 'n'))],
  ['VolumeBinding', true, 'a class serves more zones', stored('StorageClass', zones('y'), zones('y', 'z'))],
  ['VolumeBinding', true, 'a driver asks for capacity no longer', stored('CSIDriver', driver(true), driver(false))],
  ['VolumeBinding', true, 'there is more space', stored('CSIStorageCapacity', space('1Gi'), space('2Gi'))],
  ['VolumeZone', true, 'a node is new', fresh],
  ['VolumeZone', true, 'a node is in another zone', inZone('y', 'z')],
  ['VolumeZone', true, 'a volume for its claim came', stored('PersistentVolume', undefined, volume('pv').for('c').build())],
];
const all = [...rows, ...ofStorage.map(([by, yes, why, event, of = claiming]): Row => [by, yes, why, of, event])];
for (const [by, yes, why, of, event, short] of all)
  test(`the hint of ${by} ${yes ? 'retries' : 'does not retry'} a pod when ${why}`, () =>
    assert.equal(hints.get(by)?.(podInfoOf(of.build()), event, short && new Set(short)), yes));

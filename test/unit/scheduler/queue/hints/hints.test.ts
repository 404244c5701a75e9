import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Rejector } from '../../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../../scheduler/pod/pod-info.ts';
import { createHints } from '../../../../../scheduler/queue/hints.ts';
import { shortIn } from '../../../../../scheduler/queue/hints/node.ts';
import { node, pod, type PodBuilder } from '../../builders.ts';
import { came, changed, left, namespace, newNode, noNode, type Row, row, turned } from './rows.ts';

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
  NodeDeclaredFeatures: [
    row(true, 'a node declares them', sharing, changed('features', n(), declaring())),
    row(true, 'a node that declares them is new', sharing, newNode(declaring())),
    row(false, 'a node declares others', sharing, changed('features', n(), n().declares('Other'))),
  ],
  DynamicResources: [
    row(false, 'anything happens to a pod with claims', p().spec({ resourceClaims: [{ name: 'c' }] }), newNode(n())),
    row(true, 'a node has the device from a plugin', p().asks(GPU, '1'), newNode(n().has(GPU, '1'))),
    row(false, 'a node has others', p().asks(GPU, '1'), newNode(n().has('x/npu', '1'))),
    row(true, 'a node gets the device', p().asks(GPU, '1'), changed('allocatable', n().has(GPU, '0'), n().has(GPU, '1'))),
  ],
  NodeName: [
    row(true, 'its node is new', p().on('n'), newNode(n())),
    row(false, 'another node is new', p().on('m'), newNode(n())),
    row(false, 'a pod left', p(), left(pod('b'))),
  ],
  NodeUnschedulable: [
    row(true, 'a node is new', p(), newNode(n())),
    row(true, 'a node is uncordoned', p(), changed('taints', n().cordoned(), n())),
    row(false, 'a node is new, and cordoned', p(), newNode(n().cordoned())),
    row(false, 'a node is cordoned', p(), changed('taints', n(), n().cordoned())),
    row(false, 'the pod minds no cordon', p().tolerates({ operator: 'Exists' }), changed('taints', n().cordoned(), n())),
  ],
  TaintToleration: [
    row(true, 'a node is new, with a taint that is tolerated', p().tolerates({ key: 't', operator: 'Exists' }), newNode(n().taints(t))),
    row(true, 'a taint is gone', p(), changed('taints', n().taints(t), n())),
    row(false, 'a node is new, and tainted', p(), newNode(n().taints(t))),
    row(false, 'one of two taints is gone', p(), changed('taints', n().taints(t, { ...t, key: 'u' }), n().taints(t))),
    row(false, 'a taint is gone that was a wish only', p(), changed('taints', n().taints({ ...t, effect: 'PreferNoSchedule' }), n())),
  ],
  NodeAffinity: [
    row(true, 'a node is new, and matches', p().selects({ x: 'y' }), newNode(n().labels({ x: 'y' }))),
    row(true, 'a node matches now', p().selects({ x: 'y' }), changed('labels', n(), n().labels({ x: 'y' }))),
    row(false, 'a node is new, and does not match', p().selects({ x: 'y' }), newNode(n())),
    row(false, 'a node matches no longer', p().selects({ x: 'y' }), changed('labels', n().labels({ x: 'y' }), n())),
    row(false, 'a node lacks what the profile asks for', picky, newNode(n())),
    row(true, 'a node has what the profile asks for', picky, changed('labels', n(), n().labels({ good: '' }))),
  ],
  NodePorts: [
    row(true, 'a pod left with the port', p().port(80), left(pod('b').port(80, 'TCP', '10.0.0.1'))),
    row(true, 'a node is new', p().port(80), newNode(n())),
    row(false, 'a pod left with another port', p().port(80), left(pod('b').port(81))),
    row(false, 'a node is other', p().port(80), changed('labels', n(), n().labels({ x: 'y' }))),
  ],
  NodeResourcesFit: [
    row(true, 'a pod left that held what was short', p().cpu('1'), left(pod('b').cpu('1m')), ['cpu']),
    row(true, 'a pod left that held the scalar', p().asks(GPU, '1'), left(pod('b').asks(GPU, '1')), [GPU]),
    row(true, 'a pod left, and what was short is not known', p().cpu('1'), left(pod('b'))),
    row(true, 'a pod asks for less', p().cpu('1'), turned(pod('b').cpu('2'), pod('b').cpu('1'))),
    row(true, 'a node is new, and just large enough', p().cpu('4').memory('8Gi'), newNode(n())),
    row(true, 'a node has more cpu', p().cpu('2'), changed('allocatable', n().cpu('1'), n().cpu('2'))),
    row(false, 'a pod left that held nothing of what was short', p().cpu('1'), left(pod('b').memory('1Gi')), ['cpu']),
    row(true, 'a pod left its place, and that was short', p().cpu('1'), left(pod('b')), ['pods', 'memory']),
    row(false, 'a pod left that held another scalar', p().asks(GPU, '1'), left(pod('b').asks('x/y', '1')), [GPU]),
    row(false, 'a pod asks for less of something else', p().cpu('1'), turned(pod('b').memory('2'), pod('b').memory('1'))),
    row(false, 'a pod asks for more', p().cpu('1'), turned(pod('b').cpu('1'), pod('b').cpu('2'))),
    row(false, 'a node is new, and too small', p().cpu('4001m'), newNode(n())),
    row(false, 'a node is new, and takes no pods', p(), newNode(n().has('pods', '0'))),
    row(true, 'a node is new, and lacks what somebody else looks after', p().asks('example.com/ignored', '1'), newNode(n())),
    row(false, 'a node has more cpu, and too little still', p().cpu('3'), changed('allocatable', n().cpu('1'), n().cpu('2'))),
    row(false, 'a node has less cpu', p().cpu('1'), changed('allocatable', n().cpu('4'), n().cpu('2'))),
    row(false, 'a node has another label', p().cpu('1'), changed('labels', n(), n().labels({ x: 'y' }))),
  ],
  PodTopologySpread: [
    row(true, 'a pod that is counted came', spread(), came(a())),
    row(true, 'a pod that is counted left', spread(), left(a())),
    row(true, 'a pod that is counted is on its way out', spread(), turned(a(), a().terminating())),
    row(true, 'a pod came to be counted', spread(), turned(pod('b'), a())),
    row(true, 'a node is new in a zone', spread(), newNode(zoned())),
    row(true, 'a node of a zone is gone', spread(), noNode(zoned())),
    row(true, 'a node is in another zone', spread(), changed('labels', zoned('y'), zoned())),
    row(
      true,
      'a node has a label that makes it count',
      spread().selects({ x: 'y' }),
      changed('labels', zoned(), zoned().labels({ x: 'y' })),
    ),
    row(
      true,
      'a taint is gone that kept a node from being counted',
      spread({ nodeTaintsPolicy: 'Honor' }),
      changed('taints', zoned().taints(t), zoned()),
    ),
    row(false, 'a pod that is not counted came', spread(), came(pod('b'))),
    row(false, 'a pod on its way out came', spread(), came(a().terminating())),
    row(false, 'a pod that was not counted left', spread(), left(pod('b'))),
    row(false, 'a pod that is counted has one more label', spread(), turned(a(), a().labels({ x: 'y' }))),
    row(false, 'the rule is a wish only', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), came(a())),
    row(false, 'a node is new without a zone', spread(), newNode(n())),
    row(false, 'a node is new, but not one to count', spread().selects({ x: 'y' }), newNode(zoned())),
    row(false, 'a node without a zone is gone', spread(), noNode(n())),
    row(false, 'a node has another label', spread(), changed('labels', zoned(), zoned().labels({ x: 'y' }))),
    row(false, 'a taint is gone that does not matter', spread(), changed('taints', zoned().taints(t), zoned())),
  ],
  InterPodAffinity: [
    row(true, 'a friend came', friendly(), came(a())),
    row(true, 'somebody became a friend', friendly(), turned(pod('b'), a())),
    row(true, 'the last of its kind may have left', a().affinity({ podAffinity: terms({ labelSelector: app('a') }) }), left(a())),
    row(true, 'one it keeps away from left', hostile(), left(a())),
    row(true, 'one it keeps away from is that no longer', hostile(), turned(a(), pod('b'))),
    row(true, 'one left that kept away from it', a(), left(hostile('a', pod('c')))),
    row(true, 'a node is new', a(), newNode(n())),
    row(true, 'a node is new, in a zone', friendly(), newNode(zoned())),
    row(true, 'a node is in another zone of pods that keep away', a(), changed('labels', zoned('y'), zoned())),
    row(true, 'a node is gone with its pods', a(), noNode(n())),
    row(true, 'a namespace came to be meant', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'y' })),
    row(false, 'somebody else came', friendly(), came(pod('b'))),
    row(false, 'a friend of one term of two came', friendly({}, [{ topologyKey: 'rack', labelSelector: app('b') }]), came(a())),
    row(false, 'a friend came, but it keeps away from nobody', hostile(), came(a())),
    row(true, 'a friend came to a namespace that is meant', ofNamespaces({ stage: 'test' }), came(pod('tested/b').labels({ app: 'a' }))),
    row(false, 'a friend left, of another kind', friendly(), left(a())),
    row(false, 'one became somebody to keep away from', hostile(), turned(pod('b'), a())),
    row(false, 'one left that kept away from others', a(), left(hostile('c', pod('c')))),
    row(false, 'a node is new, in the domain of nobody it wants to be near to', friendly(), newNode(n())),
    row(false, 'a node has a label that no domain goes by', a(), changed('labels', n(), n().labels({ disk: 'ssd' }))),
    row(false, 'a node has more room', a(), changed('allocatable', n().cpu('1'), n().cpu('2'))),
    row(false, 'its namespace is as it was', a(), namespace('default', { x: 'y' }, { x: 'y' })),
    row(false, 'a namespace is not meant still', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'z' })),
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

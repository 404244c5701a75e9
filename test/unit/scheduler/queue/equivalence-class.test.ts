import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { equivalenceClassOf, type EquivalenceState, invalidatedBy, requirementsKey } from '../../../../scheduler/queue/equivalence-class.ts'; // prettier-ignore
import { type FitError } from '../../../../scheduler/engine/rejections.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod, PodBuilder } from '../builders.ts';
import { near, required } from '../oracle/examples.ts';

/** @param lowest - the least important pod's priority that is on a node */
function facts(lowest: number, enabled = true): EquivalenceState {
  return {
    nominator: { nodeOf: () => undefined },
    held: { of: () => undefined },
    volumes: { key: () => '' },
    cluster: { lowestPriority: lowest },
    config: { preemption: { ...defaultSchedulerConfig.preemption, enabled } },
  };
}

const by = new Set<Rejector>(['NodeResourcesFit']);
const reasons = new Map([['Insufficient cpu', 2]]);
const error: FitError = { nodes: 2, reasons, everywhere: undefined, by, resolvable: 2 };

const row = (why: string, alike: boolean, b: PodBuilder, more: Partial<FitError> = {}, lowest = 0) => ({ why, alike, b, more, lowest });
const b = () => pod('b');
const indexed = b().labels({ index: '1' });
const anyNode = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
const pairs = [
  row('another name', true, b()),
  row('other requests', false, b().cpu('2')),
  row('another priority', false, b().priority(1)),
  row('a node affinity', false, b().affinity(anyNode)),
  row('a pod anti-affinity', false, b().affinity({ podAntiAffinity: required(near('db')) })),
  row('a host port', false, b().port(80)),
  row('other labels, and resources were short everywhere', true, indexed),
  row('other labels, and other pods had a say', false, indexed, { by: new Set([...by, 'InterPodAffinity']) }),
  row('other labels, and there are pods of lower priority', false, indexed, {}, -1),
  row('other labels, and no preemption would help', true, indexed, { resolvable: 0 }, -1),
  row('the same, refused before nodes were asked', false, b(), { everywhere: 'why' }),
];
for (const { why, b, more, lowest, alike } of pairs)
  test(`pods are ${alike ? '' : 'not '}in one equivalence class with ${why}`, () => {
    const [one, other] = [pod('a'), b].map((made) => equivalenceClassOf(facts(lowest), podInfoOf(made.build()), { ...error, ...more }));
    assert.equal(one !== undefined && one === other, alike);
  });

test('pods with an extended resource of devices have one key, but for one that has claims of devices as well', () => {
  const key = (of: PodBuilder) => requirementsKey(podInfoOf(of.asks('example.com/gpu', '1').build()));
  const claims: object = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }] };
  assert.equal(key(pod('a')), key(pod('b')));
  assert.notEqual(key(pod('a')), key(pod('b').spec(claims)));
});

test('a pod that is nominated, has a reservation or volumes is in no equivalence class', () => {
  const one = podInfoOf(pod('a').build());
  const held = {} as ReturnType<EquivalenceState['held']['of']>;
  for (const own of [{ nominator: { nodeOf: () => 'n' } }, { held: { of: () => held } }, { volumes: { key: () => 'claim' } }])
    assert.equal(equivalenceClassOf({ ...facts(0), ...own }, one, error), undefined);
});

const spread = (nodeTaintsPolicy: string) =>
  pod('a').spec({ topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy }] });
const tolerant = (built: PodBuilder) => built.tolerates({ key: 't', operator: 'Exists' });
const byTaints = ['Extender', 'NodeUnschedulable', 'TaintToleration'];
const changes: [why: string, before: PodBuilder, after: PodBuilder | Partial<Pod>, voids: string[]][] = [
  ['its status', pod('a'), { status: { phase: 'Pending', message: 'x' } }, []],
  ['its version and finalizers', pod('a'), { metadata: { name: 'a', namespace: 'default', resourceVersion: '7', finalizers: ['x'] } }, []],
  ['less cpu', pod('a').cpu('2'), pod('a').cpu('1'), ['Extender', 'NodeResourcesFit']],
  ['less memory, and more cpu', pod('a').memory('2').cpu('1'), pod('a').memory('1').cpu('2'), ['Extender', 'NodeResourcesFit']],
  ['more cpu', pod('a').cpu('1'), pod('a').cpu('2'), ['Extender']],
  ['a label', pod('a'), pod('a').labels({ x: 'y' }), ['Extender', 'InterPodAffinity', 'PodTopologySpread']],
  ['a toleration', pod('a'), tolerant(pod('a')), byTaints],
  ['a toleration, where taints decide who is counted', spread('Honor'), tolerant(spread('Honor')), [...byTaints, 'PodTopologySpread']],
  ['a node selector', pod('a').selects({ x: 'y' }), pod('a'), ['Extender', 'NodeAffinity', 'PodTopologySpread']],
  ['the last gate', pod('a').spec({ schedulingGates: [{ name: 'g' }] }), pod('a'), ['Extender', 'SchedulingGates']],
];
for (const [why, before, after, voids] of changes)
  test(`the rejections that a change of a pod invalidates: ${why}`, () => {
    const was = before.build();
    const is = after instanceof PodBuilder ? after.build() : { ...was, ...after };
    assert.deepEqual([...invalidatedBy(podInfoOf(was), podInfoOf(is))].toSorted(), voids.toSorted());
  });

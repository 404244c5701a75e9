import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { invalidatedBy } from '../../../../scheduler/queue/equivalence-class.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod, PodBuilder } from '../builders.ts';

const tolerant = (built: PodBuilder) => built.tolerates({ key: 't', operator: 'Exists' });
const spread = (nodeTaintsPolicy: string) =>
  pod('a').spec({ topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy }] });
const gated = (...names: string[]) => pod('a').spec({ schedulingGates: names.map((name) => ({ name })) });

const row = (why: string, before: PodBuilder, after: PodBuilder | Partial<Pod>, voids: string[]) => ({ why, before, after, voids });
const named = { name: 'a', namespace: 'default' };
const byTaints = ['Extender', 'NodeUnschedulable', 'TaintToleration'];
const byTaintsAndSpread = ['Extender', 'NodeUnschedulable', 'PodTopologySpread', 'TaintToleration'];
const cases = [
  row('its status', pod('a'), { status: { phase: 'Pending', message: 'x' } }, []),
  row('its version and finalizers', pod('a'), { metadata: { ...named, resourceVersion: '7', finalizers: ['x'] } }, []),
  row('less cpu', pod('a').cpu('2'), pod('a').cpu('1'), ['Extender', 'NodeResourcesFit']),
  row('more cpu', pod('a').cpu('1'), pod('a').cpu('2'), ['Extender']),
  row('a label', pod('a'), pod('a').labels({ x: 'y' }), ['Extender', 'InterPodAffinity', 'PodTopologySpread']),
  row('an annotation', pod('a'), { metadata: { ...named, labels: {}, annotations: { x: 'y' } } }, ['Extender']),
  row('a toleration', pod('a'), tolerant(pod('a')), byTaints),
  row('a toleration, where taints decide which nodes are counted', spread('Honor'), tolerant(spread('Honor')), byTaintsAndSpread),
  row('a node selector', pod('a').selects({ x: 'y' }), pod('a'), ['Extender', 'NodeAffinity', 'PodTopologySpread']),
  row('the last gate', gated('y'), pod('a'), ['Extender', 'SchedulingGates']),
];

for (const { why, before, after, voids } of cases)
  test(`what is void when a pod's change is ${why}`, () => {
    const was = before.build();
    const is = after instanceof PodBuilder ? after.build() : { ...was, ...after };
    assert.deepEqual([...invalidatedBy(podInfoOf(was), podInfoOf(is))].toSorted(), voids);
  });

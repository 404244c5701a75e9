import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { invalidatedBy } from '../../../../scheduler/queue/own-change.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod, PodBuilder } from '../builders.ts';

const tolerant = (built: PodBuilder) => built.tolerates({ key: 't', operator: 'Exists' });
const spread = (nodeTaintsPolicy: string) =>
  pod('a').spec({ topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy }] });
const gated = (...names: string[]) => pod('a').spec({ schedulingGates: names.map((name) => ({ name })) });

const cases: { why: string; before: PodBuilder; after: PodBuilder | Partial<Pod>; voids: string[] }[] = [
  { why: 'nothing', before: pod('a').cpu('1'), after: pod('a').cpu('1'), voids: [] },
  { why: 'its status', before: pod('a'), after: { status: { phase: 'Pending', message: 'x' } }, voids: [] },
  {
    why: 'its version and finalizers',
    before: pod('a'),
    after: { metadata: { name: 'a', namespace: 'default', resourceVersion: '7', finalizers: ['x'] } },
    voids: [],
  },
  { why: 'less cpu', before: pod('a').cpu('2'), after: pod('a').cpu('1'), voids: ['Extender', 'NodeResourcesFit'] },
  {
    why: 'less cpu and more memory',
    before: pod('a').cpu('2'),
    after: pod('a').cpu('1').memory('1'),
    voids: ['Extender', 'NodeResourcesFit'],
  },
  { why: 'one gpu less', before: pod('a').asks('example.com/gpu', '1'), after: pod('a'), voids: ['Extender', 'NodeResourcesFit'] },
  { why: 'more cpu', before: pod('a').cpu('1'), after: pod('a').cpu('2'), voids: ['Extender'] },
  { why: 'a label', before: pod('a'), after: pod('a').labels({ x: 'y' }), voids: ['Extender', 'InterPodAffinity', 'PodTopologySpread'] },
  {
    why: 'an annotation',
    before: pod('a'),
    after: { metadata: { name: 'a', namespace: 'default', labels: {}, annotations: { x: 'y' } } },
    voids: ['Extender'],
  },
  { why: 'a toleration', before: pod('a'), after: tolerant(pod('a')), voids: ['Extender', 'NodeUnschedulable', 'TaintToleration'] },
  {
    why: 'a toleration, where taints decide which nodes are counted',
    before: spread('Honor'),
    after: tolerant(spread('Honor')),
    voids: ['Extender', 'NodeUnschedulable', 'PodTopologySpread', 'TaintToleration'],
  },
  {
    why: 'a toleration, where taints decide nothing',
    before: spread('Ignore'),
    after: tolerant(spread('Ignore')),
    voids: ['Extender', 'NodeUnschedulable', 'TaintToleration'],
  },
  {
    why: 'a node selector',
    before: pod('a').selects({ x: 'y' }),
    after: pod('a'),
    voids: ['Extender', 'NodeAffinity', 'PodTopologySpread'],
  },
  { why: 'one gate of two', before: gated('x', 'y'), after: gated('y'), voids: ['Extender'] },
  { why: 'the last gate', before: gated('y'), after: pod('a'), voids: ['Extender', 'SchedulingGates'] },
];

for (const { why, before, after, voids } of cases)
  test(`what is void when a pod's change is ${why}`, () => {
    const was = before.build();
    const is = after instanceof PodBuilder ? after.build() : { ...was, ...after };
    assert.deepEqual([...invalidatedBy(podInfoOf(was), podInfoOf(is))].toSorted(), voids);
  });

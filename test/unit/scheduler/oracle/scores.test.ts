import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { ScoreName } from '../../../../scheduler/plugins/names.ts';
import { node, pod } from '../builders.ts';
import { evaluate } from './evaluate.ts';
import { clusterOf, engineDiffers, points, scoring, type ScoreExample } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: every figure was computed by hand. Points are before weights. */

type Own = Exclude<ScoreName, 'PodTopologySpread' | 'InterPodAffinity'>;

const MIB = 1024 * 1024;
const quiet = pod('quiet').build();
const quarter = pod('quarter').cpu('1').memory('2Gi').build();
const strategy = (type: ProfileConfig['fit']['strategy']['type'], shape: { utilization: number; score: number }[] = []) => ({
  fit: { ...plainProfile.fit, strategy: { ...plainProfile.fit.strategy, type, shape } },
});
const prefersNode = (...wishes: [weight: number, key: string][]) => ({
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: wishes.map(([weight, key]) => ({
      weight,
      preference: { matchExpressions: [{ key, operator: 'Exists' }] },
    })),
  },
});
const examples: Readonly<Record<Own, readonly ScoreExample[]>> = {
  NodeResourcesFit: [
    {
      why: 'the mean of what is left of each resource, cut off', // b: (50 + 75) / 2
      cluster: clusterOf([node('a'), node('b').cpu('2')]),
      pod: quarter,
      points: { a: 75, b: 62 },
    },
    {
      why: '100m and 200Mi for a container that does not say, there and here', // cpu 3800 / 4000, memory 7792 / 8192
      cluster: clusterOf([node('a')], [pod('x').on('a')]),
      pod: quiet,
      points: { a: 95 },
    },
    {
      why: '0 for what is said to be 0',
      cluster: clusterOf([node('a')], [pod('x').cpu('0').memory('0').on('a')]),
      pod: pod('zero').cpu('0').memory('0').build(),
      points: { a: 100 },
    },
    {
      why: 'nothing for a resource of which more is taken than there is', // memory 95
      cluster: clusterOf([node('a').cpu('100m')], [pod('x').on('a')]),
      pod: quiet,
      points: { a: 47 },
    },
    {
      why: 'no share of a resource that a node has not',
      cluster: clusterOf([node('a').memory('0')]),
      pod: pod('x').cpu('1').build(),
      points: { a: 75 },
    },
    {
      why: 'more to fuller nodes when told so',
      cluster: clusterOf([node('a'), node('b').cpu('1')]), // b: (100 + 25) / 2
      pod: quarter,
      points: { a: 25, b: 62 },
      profile: strategy('MostAllocated'),
    },
    {
      why: 'what a shape says at a whole percent', // cpu 70 %: 80 - 60 * 30 / 60; memory 9.99 %: 80 * 9 / 40
      cluster: clusterOf([node('a')]),
      pod: pod('x').cpu('2800m').memory('819Mi').build(),
      points: { a: 34 },
      profile: strategy('RequestedToCapacityRatio', [
        { utilization: 0, score: 0 },
        { utilization: 40, score: 80 },
        { utilization: 100, score: 20 },
      ]),
    },
    {
      why: 'nothing at all of resources without points in a shape', // cpu at 25 %: 0; memory at 75 %: 50
      cluster: clusterOf([node('a')]),
      pod: pod('x').cpu('1').memory('6Gi').build(),
      points: { a: 50 },
      profile: strategy('RequestedToCapacityRatio', [
        { utilization: 0, score: 0 },
        { utilization: 50, score: 0 },
        { utilization: 100, score: 100 },
      ]),
    },
  ],
  NodeResourcesBalancedAllocation: [
    { why: 'everything where shares are alike', cluster: clusterOf([node('a')]), pod: quarter, points: { a: 100 } },
    {
      why: 'less by half of the difference', // 0.5 and 0.25: 1 - 0.125
      cluster: clusterOf([node('a')]),
      pod: pod('x').cpu('2').memory('2Gi').build(),
      points: { a: 87 },
    },
    {
      why: 'by what is asked for, not by what is guessed', // 1 and 0
      cluster: clusterOf([node('a')], [pod('x').on('a')]),
      pod: pod('x').cpu('4').build(),
      points: { a: 50 },
    },
    {
      why: 'what is taken twice as taken', // 8 of 4 cpus and all memory
      cluster: clusterOf([node('a')], [pod('x').cpu('8').on('a')]),
      pod: pod('x').memory('8Gi').build(),
      points: { a: 100 },
    },
    { why: 'nothing for a pod that asks for nothing', cluster: clusterOf([node('a')]), pod: quiet, points: { a: 0 } },
    {
      why: 'by the deviation where there are three', // 0.25, 0.25 and 1: the root of 0.125 is 0.3535
      cluster: clusterOf([node('a').has('example.com/gpu', '2')]),
      pod: pod('x').cpu('1').memory('2Gi').asks('example.com/gpu', '2').build(),
      points: { a: 64 },
      profile: { balanced: { resources: ['cpu', 'memory', 'example.com/gpu'].map((name) => ({ name, weight: 1 })) } },
    },
    {
      why: 'without scalars that the pod does not ask for',
      cluster: clusterOf([node('a').has('example.com/gpu', '2')], [pod('x').asks('example.com/gpu', '2').on('a')]),
      pod: quarter,
      points: { a: 100 },
      profile: { balanced: { resources: ['cpu', 'memory', 'example.com/gpu'].map((name) => ({ name, weight: 1 })) } },
    },
  ],
  ImageLocality: [
    {
      why: 'less for what few nodes have', // 500 / 2: 227 of 977
      cluster: clusterOf([node('a').image('app:1', 500 * MIB), node('b')]),
      pod: quiet,
      points: { a: 23, b: 0 },
    },
    {
      why: 'its share of a gigabyte', // 477 of 977
      cluster: clusterOf([node('a').image('app:1', 500 * MIB), node('b').image('app:1', 500 * MIB)]),
      pod: quiet,
      points: { a: 48, b: 48 },
    },
    {
      why: 'no more than all, no less than nothing',
      cluster: clusterOf([node('a').image('big:latest', 3000 * MIB), node('b').image('big:latest', 3000 * MIB)]),
      pod: pod('x').image('big').build(),
      points: { a: 100, b: 100 },
    },
    {
      why: 'nothing for what is small',
      cluster: clusterOf([node('a').image('app:1', 22 * MIB)]),
      pod: quiet,
      points: { a: 0 },
    },
    {
      why: 'the newest where no tag is said, also behind a port',
      cluster: clusterOf([node('a').image('host:5000/app:latest', 500 * MIB), node('b').image('host:5000/app', 500 * MIB)]),
      pod: pod('x').image('host:5000/app').build(),
      points: { a: 23, b: 0 },
    },
    {
      why: 'for all containers together, those that run before included', // (500 + 300 - 23) / (2000 - 23)
      cluster: clusterOf([
        node('a')
          .image('app:1', 500 * MIB)
          .image('init:1', 300 * MIB),
      ]),
      pod: pod('x')
        .spec({ initContainers: [{ name: 'init', image: 'init:1' }] })
        .build(),
      points: { a: 39 },
    },
  ],
  TaintToleration: [
    {
      why: 'less by each taint that is not wanted', // 1 of 3: 100 - 33
      cluster: clusterOf([
        node('a'),
        node('b').taints({ key: 'x', effect: 'PreferNoSchedule' }),
        node('c').taints(...['x', 'y', 'z'].map((key) => ({ key, effect: 'PreferNoSchedule' }))),
      ]),
      pod: quiet,
      points: { a: 100, b: 67, c: 0 },
    },
    {
      why: 'no less for what is tolerated, by tolerations of this effect or of any',
      cluster: clusterOf([
        node('a').taints({ key: 'x', effect: 'PreferNoSchedule' }),
        node('b').taints({ key: 'y', effect: 'PreferNoSchedule' }),
        node('c').taints({ key: 'z', effect: 'PreferNoSchedule' }),
      ]),
      pod: pod('p')
        .tolerates(
          { key: 'x', operator: 'Exists', effect: 'NoSchedule' },
          { key: 'y', operator: 'Exists' },
          { key: 'z', effect: 'PreferNoSchedule' },
        )
        .build(),
      points: { a: 0, b: 100, c: 100 },
    },
    { why: '100 for all where there are none', cluster: clusterOf([node('a'), node('b')]), pod: quiet, points: { a: 100, b: 100 } },
  ],
  NodeAffinity: [
    {
      why: 'percent of the most that any node has', // 10, 30 and 0 of 30
      cluster: clusterOf([node('a').labels({ x: '' }), node('b').labels({ y: '' }), node('c')]),
      pod: pod('p')
        .affinity(prefersNode([10, 'x'], [30, 'y']))
        .build(),
      points: { a: 33, b: 100, c: 0 },
    },
    {
      why: 'the most among nodes that are feasible',
      cluster: clusterOf([node('a').labels({ x: '' }), node('b').labels({ y: '' }).cordoned()]),
      pod: pod('p')
        .affinity(prefersNode([10, 'x'], [30, 'y']))
        .build(),
      points: { a: 100 },
    },
    { why: '0 for all without wishes', cluster: clusterOf([node('a')]), pod: quiet, points: { a: 0 } },
  ],
};

for (const [plugin, list] of Object.entries(examples) as [Own, readonly ScoreExample[]][])
  for (const example of list)
    test(`${plugin} counts ${example.why}`, () => {
      assert.deepEqual(points(plugin, example), example.points);
      assert.equal(engineDiffers(example.cluster, example.pod, scoring(plugin, example.profile)), undefined);
    });

test('points are added up by their weights, and the best are all of those with the most', () => {
  const { totals, top, byPlugin } = evaluate(clusterOf([node('b'), node('a'), node('c').cpu('2')]), quarter, plainProfile);
  assert.deepEqual(Object.fromEntries(totals), { a: 75 + 100 + 300, b: 475, c: 62 + 87 + 300 });
  assert.deepEqual(top, ['a', 'b']);
  assert.equal(byPlugin.get('TaintToleration')?.get('a'), 300);
});

test('a single feasible node is the best', () => {
  const { top, feasible } = evaluate(clusterOf([node('a').cordoned(), node('b')]), quarter, plainProfile);
  assert.deepEqual([top, feasible], [['b'], ['b']]);
});

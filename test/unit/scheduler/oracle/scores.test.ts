import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume } from 'kubernetes-types/core/v1.js';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { ScoreName } from '../../../../scheduler/plugins/names.ts';
import { node, pod } from '../builders.ts';
import { evaluate } from './evaluate.ts';
import { clusterOf, gives, testScore, type ScoreExample } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: every figure was computed by hand. Points are before weights. */

type Own = Exclude<ScoreName, 'PodTopologySpread' | 'InterPodAffinity' | 'VolumeBinding'>;

const MIB = 1024 * 1024;
const quiet = pod('quiet');
const quarter = pod('quarter').cpu('1').memory('2Gi');
const strategy = (type: ProfileConfig['fit']['strategy']['type'], shape: { utilization: number; score: number }[] = []) => ({
  fit: { ...plainProfile.fit, strategy: { ...plainProfile.fit.strategy, type, shape } },
});
/** As kube-scheduler up to 1.35 gives them. */
const balance = { balanced: { ...plainProfile.balanced, points: 'balance' as const } };
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
    gives('the mean of what is left of each resource, cut off', clusterOf([node('a'), node('b').cpu('2')]), quarter, { a: 75, b: 62 }),
    gives('100m and 200Mi for a container that does not say, there and here', clusterOf([node('a')], [pod('x').on('a')]), quiet, { a: 95 }),
    gives('0 for what is said to be 0', clusterOf([node('a')], [pod('x').cpu('0').memory('0').on('a')]), pod('zero').cpu('0').memory('0'), {
      a: 100,
    }),
    gives('nothing for a resource of which more is taken than there is', clusterOf([node('a').cpu('100m')], [pod('x').on('a')]), quiet, {
      a: 47,
    }),
    gives('no share of a resource that a node has not', clusterOf([node('a').memory('0')]), pod('x').cpu('1'), { a: 75 }),
    gives(
      'more to fuller nodes when told so',
      clusterOf([node('a'), node('b').cpu('1')]),
      quarter,
      { a: 25, b: 62 },
      strategy('MostAllocated'),
    ),
    gives(
      'what a shape says at a whole percent',
      clusterOf([node('a')]),
      pod('x').cpu('2800m').memory('819Mi'),
      { a: 34 },
      strategy('RequestedToCapacityRatio', [
        { utilization: 0, score: 0 },
        { utilization: 40, score: 80 },
        { utilization: 100, score: 20 },
      ]),
    ),
    gives(
      'nothing at all of resources without points in a shape',
      clusterOf([node('a')]),
      pod('x').cpu('1').memory('6Gi'),
      { a: 50 },
      strategy('RequestedToCapacityRatio', [
        { utilization: 0, score: 0 },
        { utilization: 50, score: 0 },
        { utilization: 100, score: 100 },
      ]),
    ),
  ],
  NodeResourcesBalancedAllocation: [
    gives('everything where shares are alike', clusterOf([node('a')]), quarter, { a: 100 }, balance),
    gives('less by half of the difference', clusterOf([node('a')]), pod('x').cpu('2').memory('2Gi'), { a: 87 }, balance),
    gives(
      'by what is asked for, not by what is guessed',
      clusterOf([node('a')], [pod('x').on('a')]),
      pod('x').cpu('4'),
      { a: 50 },
      balance,
    ),
    gives('what is taken twice as taken', clusterOf([node('a')], [pod('x').cpu('8').on('a')]), pod('x').memory('8Gi'), { a: 100 }, balance),
    gives(
      'for what the pod improves, as kube-scheduler 1.36.3 was seen to',
      clusterOf(
        ['a', 'b', 'c', 'd', 'e'].map((name) => node(name)),
        [
          pod('fb').cpu('2').memory('1Gi').on('b'),
          pod('fc').cpu('500m').memory('6Gi').on('c'),
          pod('fd').cpu('3').memory('6Gi').on('d'),
          pod('fe').cpu('100m').memory('100Mi').on('e'),
        ],
      ),
      pod('x').cpu('1').memory('1Gi'),
      { a: 71, b: 72, c: 78, d: 71, e: 72 },
    ),
    gives('three quarters where it changes nothing', clusterOf([node('a')]), quarter, { a: 75 }),
    gives('nothing for a pod that asks for nothing', clusterOf([node('a')]), quiet, { a: 0 }),
    gives(
      'by the deviation where there are three',
      clusterOf([node('a').has('example.com/gpu', '2')]),
      pod('x').cpu('1').memory('2Gi').asks('example.com/gpu', '2'),
      { a: 64 },
      { balanced: { resources: ['cpu', 'memory', 'example.com/gpu'].map((name) => ({ name, weight: 1 })), points: 'balance' } },
    ),
    gives(
      'without scalars that the pod does not ask for',
      clusterOf([node('a').has('example.com/gpu', '2')], [pod('x').asks('example.com/gpu', '2').on('a')]),
      quarter,
      { a: 100 },
      { balanced: { resources: ['cpu', 'memory', 'example.com/gpu'].map((name) => ({ name, weight: 1 })), points: 'balance' } },
    ),
  ],
  ImageLocality: [
    gives(
      'for images of volumes as well, which count for no container',
      clusterOf([node('a').image('vol:1', 1_500_000_000).image('app:1', 900_000_000), ...['b', 'c', 'd', 'e'].map((name) => node(name))]),
      pod('x').spec({ volumes: [{ name: 'v', image: { reference: 'vol:1' } } as Volume] }),
      { a: 44, b: 0, c: 0, d: 0, e: 0 },
    ),
    gives('less for what few nodes have', clusterOf([node('a').image('app:1', 500 * MIB), node('b')]), quiet, { a: 23, b: 0 }),
    gives('its share of a gigabyte', clusterOf([node('a').image('app:1', 500 * MIB), node('b').image('app:1', 500 * MIB)]), quiet, {
      a: 48,
      b: 48,
    }),
    gives(
      'no more than all, no less than nothing',
      clusterOf([node('a').image('big:latest', 3000 * MIB), node('b').image('big:latest', 3000 * MIB)]),
      pod('x').image('big'),
      { a: 100, b: 100 },
    ),
    gives('nothing for what is small', clusterOf([node('a').image('app:1', 22 * MIB)]), quiet, { a: 0 }),
    gives(
      'the newest where no tag is said, also behind a port',
      clusterOf([node('a').image('host:5000/app:latest', 500 * MIB), node('b').image('host:5000/app', 500 * MIB)]),
      pod('x').image('host:5000/app'),
      { a: 23, b: 0 },
    ),
    gives(
      'for all containers together, those that run before included',
      clusterOf([
        node('a')
          .image('app:1', 500 * MIB)
          .image('init:1', 300 * MIB),
      ]),
      pod('x').spec({ initContainers: [{ name: 'init', image: 'init:1' }] }),
      { a: 39 },
    ),
  ],
  TaintToleration: [
    gives(
      'less by each taint that is not wanted',
      clusterOf([
        node('a'),
        node('b').taints({ key: 'x', effect: 'PreferNoSchedule' }),
        node('c').taints(...['x', 'y', 'z'].map((key) => ({ key, effect: 'PreferNoSchedule' }))),
      ]),
      quiet,
      { a: 100, b: 67, c: 0 },
    ),
    gives(
      'no less for what is tolerated, by tolerations of this effect or of any',
      clusterOf([
        node('a').taints({ key: 'x', effect: 'PreferNoSchedule' }),
        node('b').taints({ key: 'y', effect: 'PreferNoSchedule' }),
        node('c').taints({ key: 'z', effect: 'PreferNoSchedule' }),
      ]),
      pod('p').tolerates(
        { key: 'x', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'y', operator: 'Exists' },
        { key: 'z', effect: 'PreferNoSchedule' },
      ),
      { a: 0, b: 100, c: 100 },
    ),
    gives('100 for all where there are none', clusterOf([node('a'), node('b')]), quiet, { a: 100, b: 100 }),
  ],
  NodeAffinity: [
    gives(
      'percent of the most that any node has',
      clusterOf([node('a').labels({ x: '' }), node('b').labels({ y: '' }), node('c')]),
      pod('p').affinity(prefersNode([10, 'x'], [30, 'y'])),
      { a: 33, b: 100, c: 0 },
    ),
    gives(
      'the most among nodes that are feasible',
      clusterOf([node('a').labels({ x: '' }), node('b').labels({ y: '' }).cordoned()]),
      pod('p').affinity(prefersNode([10, 'x'], [30, 'y'])),
      { a: 100 },
    ),
    gives('0 for all without wishes', clusterOf([node('a')]), quiet, { a: 0 }),
  ],
};

for (const [plugin, list] of Object.entries(examples) as [Own, readonly ScoreExample[]][])
  for (const example of list) testScore(plugin, example);

test('points are added up by their weights, and the best are all of those with the most', () => {
  const { totals, top, byPlugin } = evaluate(clusterOf([node('b'), node('a'), node('c').cpu('2')]), quarter.build(), plainProfile);
  assert.deepEqual(Object.fromEntries(totals), { a: 75 + 75 + 300, b: 450, c: 62 + 68 + 300 });
  assert.deepEqual(top, ['a', 'b']);
  assert.equal(byPlugin.get('TaintToleration')?.get('a'), 300);
});

test('a single feasible node is the best', () => {
  const { top, feasible } = evaluate(clusterOf([node('a').cordoned(), node('b')]), quarter.build(), plainProfile);
  assert.deepEqual([top, feasible], [['b'], ['b']]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, pod } from '../builders.ts';
import {
  clusterOf,
  engineDiffers,
  HOST,
  near,
  points,
  preferred,
  required,
  scoring,
  service,
  spread,
  ZONE,
  type ScoreExample,
} from './examples.ts';

/* Worked examples of what other pods give a node in points: every figure was computed by hand. */

const web = pod('web').labels({ app: 'web' }).build();
const webOn = (name: string, on: string) => pod(name).labels({ app: 'web' }).on(on);
const soft = (...constraints: ReturnType<typeof spread>[]) =>
  pod('web').labels({ app: 'web' }).spec({ topologySpreadConstraints: constraints }).build();

const examples: Readonly<Record<'PodTopologySpread' | 'InterPodAffinity', readonly ScoreExample[]>> = {
  PodTopologySpread: [
    {
      why: '2, 1, none and 3 on nodes as 20, 60, 100 and 0', // times ln 6, rounded: 4, 2, 0 and 5
      cluster: clusterOf(
        [node('a'), node('b'), node('c'), node('d')],
        ['a', 'a', 'b', 'd', 'd', 'd'].map((on, at) => webOn(`web-${at}`, on)),
      ),
      pod: soft(spread(HOST, 'ScheduleAnyway')),
      points: { a: 20, b: 60, c: 100, d: 0 },
    },
    {
      why: 'zones as wholes, and nothing where there is no zone', // times ln 4: 4 and 1
      cluster: clusterOf(
        [node('a').zone('1'), node('b').zone('1'), node('c').zone('2'), node('d')],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c'), webOn('web-4', 'd')],
      ),
      pod: soft(spread(ZONE, 'ScheduleAnyway')),
      points: { a: 25, b: 25, c: 100, d: 0 },
    },
    {
      why: 'also pods of a zone on nodes where this one cannot be',
      cluster: clusterOf(
        [node('a').zone('1'), node('b').zone('1').cordoned(), node('c').zone('2')],
        [webOn('web-0', 'b'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      pod: soft(spread(ZONE, 'ScheduleAnyway')),
      points: { a: 25, c: 100 },
    },
    {
      why: 'but not on nodes that the pod did not choose', // 1 against 1
      cluster: clusterOf(
        [node('a').zone('1').labels({ good: '' }), node('b').zone('1'), node('c').zone('2').labels({ good: '' })],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      pod: pod('web')
        .labels({ app: 'web' })
        .selects({ good: '' })
        .spec({ topologySpreadConstraints: [spread(ZONE, 'ScheduleAnyway')] })
        .build(),
      points: { a: 100, c: 100 },
    },
    {
      why: 'only pods on nodes with all labels that are asked for', // zones 1 and 1; racks the same: twice ln 4 is 3 for both
      cluster: clusterOf(
        [node('a').zone('1').labels({ rack: '1' }), node('b').zone('1'), node('c').zone('2').labels({ rack: '2' })],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      pod: soft(spread(ZONE, 'ScheduleAnyway'), spread('rack', 'ScheduleAnyway')),
      points: { a: 100, b: 0, c: 100 },
    },
    {
      why: 'no pods that are on their way out, or of other namespaces, or of other apps',
      cluster: clusterOf(
        [node('a'), node('b')],
        [webOn('web-0', 'a').terminating(), pod('other/web').labels({ app: 'web' }).on('a'), pod('x').labels({ app: 'x' }).on('a')],
      ),
      pod: soft(spread(HOST, 'ScheduleAnyway')),
      points: { a: 100, b: 100 },
    },
    {
      why: 'a larger skew as less of a difference', // ln 4 + 4 is 5, against 4
      cluster: clusterOf([node('a'), node('b')], [webOn('web-0', 'a')]),
      pod: soft(spread(HOST, 'ScheduleAnyway', { maxSkew: 5 })),
      points: { a: 80, b: 100 },
    },
    {
      why: 'pods of a service by node where there are no zones', // as before: the zone adds nothing
      cluster: clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      pod: web,
      points: { a: 80, b: 100 },
    },
    {
      why: 'pods of a service by node and zone', // 1.39 + 4 + 1.39 + 2 is 9, against 6
      cluster: clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('web-0', 'a')], { services: [service('web')] }),
      pod: web,
      points: { a: 66, b: 100 },
    },
    {
      why: 'having no zone as a zone for their number, and as no addend', // 9 against 4
      cluster: clusterOf([node('a').zone('1'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      pod: web,
      points: { a: 44, b: 100 },
    },
    {
      why: 'pods of a controller',
      cluster: clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], {
        replicaSets: [{ metadata: { name: 'web', namespace: 'default' }, spec: { selector: { matchLabels: { app: 'web' } } } }],
      }),
      pod: pod('web').labels({ app: 'web' }).ownedBy('ReplicaSet', 'web').build(),
      points: { a: 80, b: 100 },
    },
    {
      why: 'nobody for a pod that belongs to nothing',
      cluster: clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web', 'other')] }),
      pod: web,
      points: { a: 0, b: 0 },
    },
    {
      why: 'nobody by default for a pod with rules of its own',
      cluster: clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      pod: soft(spread(HOST, 'DoNotSchedule', { maxSkew: 9 })),
      points: { a: 0, b: 0 },
    },
    {
      why: 'not nodes without a label that the profile names',
      cluster: clusterOf([node('a').zone('1'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      pod: web,
      points: { a: 100, b: 0 },
      profile: { spread: { defaults: [{ topologyKey: ZONE, maxSkew: 1 }] } },
    },
  ],
  InterPodAffinity: [
    {
      why: 'between the least and the most that draws', // -5, 10 and 0
      cluster: clusterOf(
        [node('a'), node('b'), node('c')],
        [pod('x').labels({ app: 'foe' }).on('a'), pod('y').labels({ app: 'friend' }).on('b')],
      ),
      pod: pod('p')
        .affinity({ podAffinity: preferred(10, near('friend')), podAntiAffinity: preferred(5, near('foe')) })
        .build(),
      points: { a: 0, b: 100, c: 33 },
    },
    {
      why: 'what others wish of this pod, and what they need as 1', // a: 3; b: -2; c: 1
      cluster: clusterOf(
        [node('a'), node('b'), node('c')],
        [
          pod('x')
            .affinity({ podAffinity: preferred(3, near('web')) })
            .on('a'),
          pod('y')
            .affinity({ podAntiAffinity: preferred(2, near('web')) })
            .on('b'),
          pod('z')
            .affinity({ podAffinity: required(near('web')) })
            .on('c'),
        ],
      ),
      pod: web,
      points: { a: 100, b: 0, c: 60 },
    },
    {
      why: 'everybody in the zone, also those on their way out',
      cluster: clusterOf(
        [node('a').zone('1'), node('b').zone('1'), node('c').zone('2')],
        [pod('x').labels({ app: 'friend' }).on('a').terminating()],
      ),
      pod: pod('p')
        .affinity({ podAffinity: preferred(1, near('friend', ZONE)) })
        .build(),
      points: { a: 100, b: 100, c: 0 },
    },
    {
      why: 'nothing where all draw alike',
      cluster: clusterOf([node('a'), node('b')], [pod('x').labels({ app: 'friend' }).on('a'), pod('y').labels({ app: 'friend' }).on('b')]),
      pod: pod('p')
        .affinity({ podAffinity: preferred(7, near('friend')) })
        .build(),
      points: { a: 0, b: 0 },
    },
    {
      why: 'pods of namespaces that are named or chosen by labels',
      cluster: clusterOf(
        [node('a'), node('b')],
        [pod('other/x').labels({ app: 'friend' }).on('a'), pod('default/y').labels({ app: 'friend' }).on('b')],
      ),
      pod: pod('p')
        .affinity({ podAffinity: preferred(1, near('friend', HOST, { namespaceSelector: { matchLabels: { team: 'b' } } })) })
        .build(),
      points: { a: 100, b: 0 },
    },
    {
      why: 'nobody else when told to ignore them and the pod has no wishes',
      cluster: clusterOf(
        [node('a'), node('b')],
        [
          pod('x')
            .affinity({ podAffinity: preferred(3, near('web')) })
            .on('a'),
        ],
      ),
      pod: web,
      points: { a: 0, b: 0 },
      profile: { interPod: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: true } },
    },
  ],
};

for (const plugin of ['PodTopologySpread', 'InterPodAffinity'] as const)
  for (const example of examples[plugin])
    test(`${plugin} counts ${example.why}`, () => {
      assert.deepEqual(points(plugin, example), example.points);
      assert.equal(engineDiffers(example.cluster, example.pod, scoring(plugin, example.profile)), undefined);
    });

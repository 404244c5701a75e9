import { node, pod } from '../builders.ts';
import { clusterOf, gives, HOST, near, preferred, required, service, spread, testScore, ZONE, type ScoreExample } from './examples.ts';

/* Worked examples of what other pods give a node in points: every figure was computed by hand. */

const web = pod('web').labels({ app: 'web' });
const webOn = (name: string, on: string) => pod(name).labels({ app: 'web' }).on(on);
const soft = (...constraints: ReturnType<typeof spread>[]) =>
  pod('web').labels({ app: 'web' }).spec({ topologySpreadConstraints: constraints });

const examples: Readonly<Record<'PodTopologySpread' | 'InterPodAffinity', readonly ScoreExample[]>> = {
  PodTopologySpread: [
    gives(
      '2, 1, none and 3 on nodes as 20, 60, 100 and 0',
      clusterOf(
        [node('a'), node('b'), node('c'), node('d')],
        ['a', 'a', 'b', 'd', 'd', 'd'].map((on, at) => webOn(`web-${at}`, on)),
      ),
      soft(spread(HOST, 'ScheduleAnyway')),
      { a: 20, b: 60, c: 100, d: 0 },
    ),
    gives(
      'zones as wholes, and nothing where there is no zone',
      clusterOf(
        [node('a').zone('1'), node('b').zone('1'), node('c').zone('2'), node('d')],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c'), webOn('web-4', 'd')],
      ),
      soft(spread(ZONE, 'ScheduleAnyway')),
      { a: 25, b: 25, c: 100, d: 0 },
    ),
    gives(
      'also pods of a zone on nodes where this one cannot be',
      clusterOf(
        [node('a').zone('1'), node('b').zone('1').cordoned(), node('c').zone('2')],
        [webOn('web-0', 'b'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      soft(spread(ZONE, 'ScheduleAnyway')),
      { a: 25, c: 100 },
    ),
    gives(
      'but not on nodes that the pod did not choose',
      clusterOf(
        [node('a').zone('1').labels({ good: '' }), node('b').zone('1'), node('c').zone('2').labels({ good: '' })],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      pod('web')
        .labels({ app: 'web' })
        .selects({ good: '' })
        .spec({ topologySpreadConstraints: [spread(ZONE, 'ScheduleAnyway')] }),
      { a: 100, c: 100 },
    ),
    gives(
      'only pods on nodes with all labels that are asked for',
      clusterOf(
        [node('a').zone('1').labels({ rack: '1' }), node('b').zone('1'), node('c').zone('2').labels({ rack: '2' })],
        [webOn('web-0', 'a'), webOn('web-1', 'b'), webOn('web-2', 'b'), webOn('web-3', 'c')],
      ),
      soft(spread(ZONE, 'ScheduleAnyway'), spread('rack', 'ScheduleAnyway')),
      { a: 100, b: 0, c: 100 },
    ),
    gives(
      'no pods that are on their way out, or of other namespaces, or of other apps',
      clusterOf(
        [node('a'), node('b')],
        [webOn('web-0', 'a').terminating(), pod('other/web').labels({ app: 'web' }).on('a'), pod('x').labels({ app: 'x' }).on('a')],
      ),
      soft(spread(HOST, 'ScheduleAnyway')),
      { a: 100, b: 100 },
    ),
    gives(
      'a larger skew as less of a difference',
      clusterOf([node('a'), node('b')], [webOn('web-0', 'a')]),
      soft(spread(HOST, 'ScheduleAnyway', { maxSkew: 5 })),
      { a: 80, b: 100 },
    ),
    gives(
      'pods of a service by node where there are no zones',
      clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      web,
      { a: 80, b: 100 },
    ),
    gives(
      'pods of a service by node and zone',
      clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('web-0', 'a')], { services: [service('web')] }),
      web,
      { a: 66, b: 100 },
    ),
    gives(
      'having no zone as a zone for their number, and as no addend',
      clusterOf([node('a').zone('1'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      web,
      { a: 44, b: 100 },
    ),
    gives(
      'pods of a controller',
      clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], {
        replicaSets: [{ metadata: { name: 'web', namespace: 'default' }, spec: { selector: { matchLabels: { app: 'web' } } } }],
      }),
      pod('web').labels({ app: 'web' }).ownedBy('ReplicaSet', 'web'),
      { a: 80, b: 100 },
    ),
    gives(
      'nobody for a pod that belongs to nothing',
      clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web', 'other')] }),
      web,
      { a: 0, b: 0 },
    ),
    gives(
      'nobody by default for a pod with rules of its own',
      clusterOf([node('a'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      soft(spread(HOST, 'DoNotSchedule', { maxSkew: 9 })),
      { a: 0, b: 0 },
    ),
    gives(
      'not nodes without a label that the profile names',
      clusterOf([node('a').zone('1'), node('b')], [webOn('web-0', 'a')], { services: [service('web')] }),
      web,
      { a: 100, b: 0 },
      { spread: { defaults: [{ topologyKey: ZONE, maxSkew: 1 }] } },
    ),
  ],
  InterPodAffinity: [
    gives(
      'between the least and the most that draws',
      clusterOf([node('a'), node('b'), node('c')], [pod('x').labels({ app: 'foe' }).on('a'), pod('y').labels({ app: 'friend' }).on('b')]),
      pod('p').affinity({ podAffinity: preferred(10, near('friend')), podAntiAffinity: preferred(5, near('foe')) }),
      { a: 0, b: 100, c: 33 },
    ),
    gives(
      'what others wish of this pod, and what they need as 1',
      clusterOf(
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
      web,
      { a: 100, b: 0, c: 60 },
    ),
    gives(
      'everybody in the zone, also those on their way out',
      clusterOf(
        [node('a').zone('1'), node('b').zone('1'), node('c').zone('2')],
        [pod('x').labels({ app: 'friend' }).on('a').terminating()],
      ),
      pod('p').affinity({ podAffinity: preferred(1, near('friend', ZONE)) }),
      { a: 100, b: 100, c: 0 },
    ),
    gives(
      'nothing where all draw alike',
      clusterOf([node('a'), node('b')], [pod('x').labels({ app: 'friend' }).on('a'), pod('y').labels({ app: 'friend' }).on('b')]),
      pod('p').affinity({ podAffinity: preferred(7, near('friend')) }),
      { a: 0, b: 0 },
    ),
    gives(
      'pods of namespaces that are named or chosen by labels',
      clusterOf(
        [node('a'), node('b')],
        [pod('other/x').labels({ app: 'friend' }).on('a'), pod('default/y').labels({ app: 'friend' }).on('b')],
      ),
      pod('p').affinity({ podAffinity: preferred(1, near('friend', HOST, { namespaceSelector: { matchLabels: { team: 'b' } } })) }),
      { a: 100, b: 0 },
    ),
    gives(
      'nobody else when told to ignore them and the pod has no wishes',
      clusterOf(
        [node('a'), node('b')],
        [
          pod('x')
            .affinity({ podAffinity: preferred(3, near('web')) })
            .on('a'),
        ],
      ),
      web,
      { a: 0, b: 0 },
      { interPod: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: true } },
    ),
  ],
};

for (const plugin of ['PodTopologySpread', 'InterPodAffinity'] as const) for (const example of examples[plugin]) testScore(plugin, example);

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import { clusterOf, HOST, near, preferred, required, says, service, spread, testFilter, ZONE, type FilterExample } from './examples.ts';
import { groupOf } from './spread.ts';

/* Worked examples: which nodes may have a pod, as far as other pods are concerned. */

const web = () => pod('web').labels({ app: 'web' });
const hard = (...constraints: ReturnType<typeof spread>[]) => web().spec({ topologySpreadConstraints: constraints });
let made = 0;
const webOn = (on: string) => pod(`web-${made++}`).labels({ app: 'web' }).on(on);

const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const SKEW = "now: node(s) didn't match pod topology spread constraints";
const NO_LABEL = "never: node(s) didn't match pod topology spread constraints (missing required label)";
const ALONE = "never: node(s) didn't match pod affinity rules";
const ANTI = "now: node(s) didn't match pod anti-affinity rules";
const OBJECTION = "now: node(s) didn't satisfy existing pods anti-affinity rules";

const examples: readonly FilterExample[] = [
  // Spreading.
  says(
    'how far domains may be apart, the pod itself included',
    clusterOf([node('a').zone('1'), node('b').zone('2'), node('c')], [webOn('a'), webOn('a'), webOn('b')]),
    hard(spread(ZONE, 'DoNotSchedule')),
    { a: SKEW, b: 'fits', c: NO_LABEL },
  ),
  says(
    'that a pod which is not meant adds nothing',
    clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('a'), webOn('a'), webOn('b')]),
    pod('x').spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule')] }),
    { a: 'fits', b: 'fits' },
  ),
  says(
    'no pods that are on their way out or elsewhere',
    clusterOf([node('a'), node('b')], [webOn('a').terminating(), pod('other/web').labels({ app: 'web' }).on('a')]),
    hard(spread(HOST, 'DoNotSchedule')),
    { a: 'fits', b: 'fits' },
  ),
  says(
    'an empty domain where there are too few',
    clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('a'), webOn('b')]),
    hard(spread(ZONE, 'DoNotSchedule', { minDomains: 3 })),
    { a: SKEW, b: SKEW },
  ),
  says(
    'only nodes that the pod chose',
    clusterOf(
      [node('a').zone('1').labels({ good: '' }), node('b').zone('2'), node('c').zone('3').labels({ good: '' })],
      [webOn('a'), webOn('c')],
    ),
    web()
      .selects({ good: '' })
      .spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule')] }),
    { a: 'fits', b: AFFINITY, c: 'fits' },
  ),
  says(
    'also other nodes when told so',
    clusterOf(
      [node('a').zone('1').labels({ good: '' }), node('b').zone('2'), node('c').zone('3').labels({ good: '' })],
      [webOn('a'), webOn('c')],
    ),
    web()
      .selects({ good: '' })
      .spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule', { nodeAffinityPolicy: 'Ignore' })] }),
    { a: SKEW, b: AFFINITY, c: SKEW },
  ),
  says(
    'tainted nodes, or not when told so',
    clusterOf([node('a'), node('b').taints({ key: 'x', effect: 'NoSchedule' })], [webOn('a')]),
    hard(spread(HOST, 'DoNotSchedule', { nodeTaintsPolicy: 'Honor' })),
    { a: 'fits', b: 'never: node(s) had untolerated taint {x: }' },
  ),
  says(
    'tainted nodes without being told',
    clusterOf([node('a'), node('b').taints({ key: 'x', effect: 'NoSchedule' })], [webOn('a')]),
    hard(spread(HOST, 'DoNotSchedule')),
    { a: SKEW, b: 'never: node(s) had untolerated taint {x: }' },
  ),
  says(
    'only nodes with the labels of all rules, and the first rule that is broken',
    clusterOf(
      [node('a').zone('1').labels({ rack: '1' }), node('b').zone('2').labels({ rack: '2' }), node('c').zone('3')],
      [webOn('a'), webOn('b')],
    ),
    hard(spread(ZONE, 'DoNotSchedule'), spread('rack', 'DoNotSchedule')),
    { a: 'fits', b: 'fits', c: NO_LABEL },
  ),
  says(
    'only pods of the same revision when told so',
    clusterOf([node('a'), node('b')], [pod('x').labels({ app: 'web', rev: '1' }).on('a')]),
    pod('p')
      .labels({ app: 'web', rev: '2' })
      .spec({ topologySpreadConstraints: [spread(HOST, 'DoNotSchedule', { matchLabelKeys: ['rev', 'none'] })] }),
    { a: 'fits', b: 'fits' },
  ),
  says(
    'nothing of rules that everybody has',
    clusterOf(
      [node('a'), node('b')],
      Array.from({ length: 9 }, () => webOn('a')),
      { services: [service('web')] },
    ),
    web(),
    { a: 'fits', b: 'fits' },
  ),
  // Other pods.
  says(
    'friends in the zone, also those on their way out',
    clusterOf(
      [node('a').zone('1'), node('b').zone('1'), node('c').zone('2'), node('d')],
      [pod('x').labels({ app: 'db' }).on('a').terminating()],
    ),
    pod('p').affinity({ podAffinity: required(near('db', ZONE)) }),
    { a: 'fits', b: 'fits', c: ALONE, d: ALONE },
  ),
  says(
    'that one friend must satisfy all terms',
    clusterOf(
      [node('a'), node('b')],
      [pod('x').labels({ app: 'db' }).on('a'), pod('y').labels({ tier: 'x' }).on('a'), pod('z').labels({ app: 'db', tier: 'x' }).on('b')],
    ),
    pod('p').affinity({ podAffinity: required(near('db'), { topologyKey: HOST, labelSelector: { matchLabels: { tier: 'x' } } }) }),
    { a: ALONE, b: 'fits' },
  ),
  says(
    'that the first of a group goes anywhere with the label',
    clusterOf([node('a').zone('1'), node('b')]),
    web().affinity({ podAffinity: required(near('web', ZONE)) }),
    { a: 'fits', b: ALONE },
  ),
  says(
    'that whoever wants to be with others than its own kind is the first of nothing',
    clusterOf([node('a').zone('1')]),
    web().affinity({ podAffinity: required(near('db', ZONE)) }),
    { a: ALONE },
  ),
  says(
    'that the second does not',
    clusterOf([node('a').zone('1'), node('b').zone('2'), node('c')], [webOn('a')]),
    web().affinity({ podAffinity: required(near('web', ZONE)) }),
    { a: 'fits', b: ALONE, c: ALONE },
  ),
  says(
    'no friends outside of all domains: the second is the first then',
    clusterOf([node('a').zone('1'), node('c')], [webOn('c')]),
    web().affinity({ podAffinity: required(near('web', ZONE)) }),
    { a: 'fits', c: ALONE },
  ),
  says(
    'foes in the zone; nodes without a zone have none',
    clusterOf([node('a').zone('1'), node('b').zone('1'), node('c')], [webOn('a'), webOn('c')]),
    pod('p').affinity({ podAntiAffinity: required(near('web', ZONE)) }),
    { a: ANTI, b: ANTI, c: 'fits' },
  ),
  says(
    'who does not want this pod, of own namespace where no other is said',
    clusterOf(
      [node('a'), node('b'), node('c')],
      [
        pod('x')
          .affinity({ podAntiAffinity: required(near('web')) })
          .on('a'),
        pod('other/y')
          .affinity({ podAntiAffinity: required(near('web')) })
          .on('b'),
        pod('other/z')
          .affinity({ podAntiAffinity: required(near('web', HOST, { namespaces: ['default'] })) })
          .on('c'),
      ],
    ),
    web(),
    { a: OBJECTION, b: 'fits', c: OBJECTION },
  ),
  says(
    'pods of all namespaces for an empty selector of namespaces, no pods without a selector of pods',
    clusterOf([node('a'), node('b')], [pod('other/x').labels({ app: 'web' }).on('a')]),
    pod('p').affinity({ podAntiAffinity: required(near('web', HOST, { namespaceSelector: {} }), { topologyKey: HOST }) }),
    { a: ANTI, b: 'fits' },
  ),
  says(
    'no wishes, however strong',
    clusterOf([node('a')], [webOn('a')]),
    pod('p').affinity({ podAntiAffinity: preferred(100, near('web')) }),
    { a: 'fits' },
  ),
];

for (const example of examples) testFilter(example);

test('who belongs together is what services and the controller say, taken together', () => {
  const cluster = clusterOf([], [], {
    services: [service('web'), service('db'), { metadata: { name: 'none', namespace: 'default' }, spec: {} }],
    statefulSets: [
      { metadata: { name: 's', namespace: 'default' }, spec: { serviceName: '', template: {}, selector: { matchLabels: { set: 's' } } } },
    ],
  });
  const labels = { app: 'web', set: 's' };
  const keysOf = (one: Pod) => groupOf(cluster, podInfoOf(one)).map(({ key }) => key);
  assert.deepEqual(keysOf(pod('s-0').labels(labels).ownedBy('StatefulSet', 's').build()), ['app', 'set']);
  assert.deepEqual(keysOf(pod('s-0').labels(labels).ownedBy('StatefulSet', 'gone').build()), ['app']);
  assert.deepEqual(keysOf(pod('s-0').labels(labels).ownedBy('DaemonSet', 's').build()), ['app']);
  assert.deepEqual(keysOf(pod('x').build()), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import type { OracleCluster } from './cluster.ts';
import { clusterOf, engineDiffers, HOST, near, preferred, required, service, spread, verdicts, ZONE } from './examples.ts';
import { plainProfile } from './profile.ts';
import { groupOf } from './spread.ts';

/* Worked examples: which nodes may have a pod, as far as other pods are concerned. */

interface Example {
  readonly why: string;
  readonly cluster: OracleCluster;
  readonly pod: Pod;
  /** See {@link verdicts}. */
  readonly says: Readonly<Record<string, string>>;
}

const web = () => pod('web').labels({ app: 'web' });
const hard = (...constraints: ReturnType<typeof spread>[]) => web().spec({ topologySpreadConstraints: constraints }).build();
let made = 0;
const webOn = (on: string) => pod(`web-${made++}`).labels({ app: 'web' }).on(on);

const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const SKEW = "now: node(s) didn't match pod topology spread constraints";
const NO_LABEL = "never: node(s) didn't match pod topology spread constraints (missing required label)";
const ALONE = "never: node(s) didn't match pod affinity rules";
const ANTI = "now: node(s) didn't match pod anti-affinity rules";
const OBJECTION = "now: node(s) didn't satisfy existing pods anti-affinity rules";

const examples: readonly Example[] = [
  // Spreading.
  {
    why: 'how far domains may be apart, the pod itself included',
    cluster: clusterOf([node('a').zone('1'), node('b').zone('2'), node('c')], [webOn('a'), webOn('a'), webOn('b')]),
    pod: hard(spread(ZONE, 'DoNotSchedule')),
    says: { a: SKEW, b: 'fits', c: NO_LABEL },
  },
  {
    why: 'that a pod which is not meant adds nothing',
    cluster: clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('a'), webOn('a'), webOn('b')]),
    pod: pod('x')
      .spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule')] })
      .build(),
    says: { a: 'fits', b: 'fits' },
  },
  {
    why: 'no pods that are on their way out or elsewhere',
    cluster: clusterOf([node('a'), node('b')], [webOn('a').terminating(), pod('other/web').labels({ app: 'web' }).on('a')]),
    pod: hard(spread(HOST, 'DoNotSchedule')),
    says: { a: 'fits', b: 'fits' },
  },
  {
    why: 'an empty domain where there are too few',
    cluster: clusterOf([node('a').zone('1'), node('b').zone('2')], [webOn('a'), webOn('b')]),
    pod: hard(spread(ZONE, 'DoNotSchedule', { minDomains: 3 })),
    says: { a: SKEW, b: SKEW },
  },
  {
    why: 'only nodes that the pod chose', // zone 2 would be the emptiest
    cluster: clusterOf(
      [node('a').zone('1').labels({ good: '' }), node('b').zone('2'), node('c').zone('3').labels({ good: '' })],
      [webOn('a'), webOn('c')],
    ),
    pod: web().selects({ good: '' }).spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule')] }).build(), // prettier-ignore
    says: { a: 'fits', b: AFFINITY, c: 'fits' },
  },
  {
    why: 'also other nodes when told so',
    cluster: clusterOf(
      [node('a').zone('1').labels({ good: '' }), node('b').zone('2'), node('c').zone('3').labels({ good: '' })],
      [webOn('a'), webOn('c')],
    ),
    pod: web().selects({ good: '' }).spec({ topologySpreadConstraints: [spread(ZONE, 'DoNotSchedule', { nodeAffinityPolicy: 'Ignore' })] }).build(), // prettier-ignore
    says: { a: SKEW, b: AFFINITY, c: SKEW },
  },
  {
    why: 'tainted nodes, or not when told so',
    cluster: clusterOf([node('a'), node('b').taints({ key: 'x', effect: 'NoSchedule' })], [webOn('a')]),
    pod: hard(spread(HOST, 'DoNotSchedule', { nodeTaintsPolicy: 'Honor' })),
    says: { a: 'fits', b: 'never: node(s) had untolerated taint {x: }' },
  },
  {
    why: 'tainted nodes without being told',
    cluster: clusterOf([node('a'), node('b').taints({ key: 'x', effect: 'NoSchedule' })], [webOn('a')]),
    pod: hard(spread(HOST, 'DoNotSchedule')),
    says: { a: SKEW, b: 'never: node(s) had untolerated taint {x: }' },
  },
  {
    why: 'only nodes with the labels of all rules, and the first rule that is broken', // c is no zone of its own for the first rule
    cluster: clusterOf(
      [node('a').zone('1').labels({ rack: '1' }), node('b').zone('2').labels({ rack: '2' }), node('c').zone('3')],
      [webOn('a'), webOn('b')],
    ),
    pod: hard(spread(ZONE, 'DoNotSchedule'), spread('rack', 'DoNotSchedule')),
    says: { a: 'fits', b: 'fits', c: NO_LABEL },
  },
  {
    why: 'only pods of the same revision when told so',
    cluster: clusterOf([node('a'), node('b')], [pod('x').labels({ app: 'web', rev: '1' }).on('a')]),
    pod: pod('p').labels({ app: 'web', rev: '2' }).spec({ topologySpreadConstraints: [spread(HOST, 'DoNotSchedule', { matchLabelKeys: ['rev', 'none'] })] }).build(), // prettier-ignore
    says: { a: 'fits', b: 'fits' },
  },
  {
    why: 'nothing of rules that everybody has',
    cluster: clusterOf(
      [node('a'), node('b')],
      Array.from({ length: 9 }, () => webOn('a')),
      { services: [service('web')] },
    ),
    pod: web().build(),
    says: { a: 'fits', b: 'fits' },
  },
  // Other pods.
  {
    why: 'friends in the zone, also those on their way out',
    cluster: clusterOf(
      [node('a').zone('1'), node('b').zone('1'), node('c').zone('2'), node('d')],
      [pod('x').labels({ app: 'db' }).on('a').terminating()],
    ),
    pod: pod('p')
      .affinity({ podAffinity: required(near('db', ZONE)) })
      .build(),
    says: { a: 'fits', b: 'fits', c: ALONE, d: ALONE },
  },
  {
    why: 'that one friend must satisfy all terms',
    cluster: clusterOf(
      [node('a'), node('b')],
      [pod('x').labels({ app: 'db' }).on('a'), pod('y').labels({ tier: 'x' }).on('a'), pod('z').labels({ app: 'db', tier: 'x' }).on('b')],
    ),
    pod: pod('p').affinity({ podAffinity: required(near('db'), { topologyKey: HOST, labelSelector: { matchLabels: { tier: 'x' } } }) }).build(), // prettier-ignore
    says: { a: ALONE, b: 'fits' },
  },
  {
    why: 'that the first of a group goes anywhere with the label',
    cluster: clusterOf([node('a').zone('1'), node('b')]),
    pod: web().affinity({ podAffinity: required(near('web', ZONE)) }).build(), // prettier-ignore
    says: { a: 'fits', b: ALONE },
  },
  {
    why: 'that whoever wants to be with others than its own kind is the first of nothing',
    cluster: clusterOf([node('a').zone('1')]),
    pod: web()
      .affinity({ podAffinity: required(near('db', ZONE)) })
      .build(),
    says: { a: ALONE },
  },
  {
    why: 'that the second does not',
    cluster: clusterOf([node('a').zone('1'), node('b').zone('2'), node('c')], [webOn('a')]),
    pod: web().affinity({ podAffinity: required(near('web', ZONE)) }).build(), // prettier-ignore
    says: { a: 'fits', b: ALONE, c: ALONE },
  },
  {
    why: 'no friends outside of all domains: the second is the first then',
    cluster: clusterOf([node('a').zone('1'), node('c')], [webOn('c')]),
    pod: web().affinity({ podAffinity: required(near('web', ZONE)) }).build(), // prettier-ignore
    says: { a: 'fits', c: ALONE },
  },
  {
    why: 'foes in the zone; nodes without a zone have none',
    cluster: clusterOf([node('a').zone('1'), node('b').zone('1'), node('c')], [webOn('a'), webOn('c')]),
    pod: pod('p')
      .affinity({ podAntiAffinity: required(near('web', ZONE)) })
      .build(),
    says: { a: ANTI, b: ANTI, c: 'fits' },
  },
  {
    why: 'who does not want this pod, of own namespace where no other is said',
    cluster: clusterOf(
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
    pod: web().build(),
    says: { a: OBJECTION, b: 'fits', c: OBJECTION },
  },
  {
    why: 'pods of all namespaces for an empty selector of namespaces, no pods without a selector of pods',
    cluster: clusterOf([node('a'), node('b')], [pod('other/x').labels({ app: 'web' }).on('a')]),
    pod: pod('p')
      .affinity({ podAntiAffinity: required(near('web', HOST, { namespaceSelector: {} }), { topologyKey: HOST }) })
      .build(),
    says: { a: ANTI, b: 'fits' },
  },
  {
    why: 'no wishes, however strong',
    cluster: clusterOf([node('a')], [webOn('a')]),
    pod: pod('p')
      .affinity({ podAntiAffinity: preferred(100, near('web')) })
      .build(),
    says: { a: 'fits' },
  },
];

for (const { why, cluster, pod, says } of examples)
  test(`a node is judged by ${why}`, () => {
    assert.deepEqual(verdicts(cluster, pod, plainProfile), says);
    assert.equal(engineDiffers(cluster, pod, plainProfile), undefined);
  });

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { node, pod, type PodBuilder } from '../builders.ts';
import type { OracleCluster } from './cluster.ts';
import { evaluate, NO_NODES } from './evaluate.ts';
import { clusterOf, engineDiffers, near, required, says, testFilter, type FilterExample } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: which nodes may have a pod for what they are and have, and what is said of the others. */

const needsNode = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const named = (...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
const quiet = pod('quiet');

const FEATURES = "never: node(s) didn't match Pod's required features";
const UNSCHEDULABLE = 'never: node(s) were unschedulable';
const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const NOT_NAMED = "never: node(s) didn't satisfy plugin(s) [NodeAffinity]";
const PORTS = "now: node(s) didn't have free ports for the requested pod ports";
const ALONE = "never: node(s) didn't match pod affinity rules";

const examples: readonly FilterExample[] = [
  // The node itself.
  says('a cordon', clusterOf([node('a'), node('b').cordoned()]), quiet, { a: 'fits', b: UNSCHEDULABLE }),
  says(
    'a cordon that is tolerated',
    clusterOf([node('a').cordoned()]),
    pod('x').tolerates({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
    { a: 'fits' },
  ),
  says(
    'features that a pod needs and nodes declare',
    clusterOf([node('a').declares('Other', 'UserNamespacesHostNetworkSupport'), node('b').declares('Other'), node('c')]),
    pod('x').spec({ hostNetwork: true, hostUsers: false }),
    { a: 'fits', b: FEATURES, c: FEATURES },
  ),
  says('features that a pod does not need', clusterOf([node('a')]), pod('x').spec({ hostUsers: false }), { a: 'fits' }),
  says('a name', clusterOf([node('a'), node('b')]), pod('x').on('b'), {
    a: "never: node(s) didn't match the requested node name",
    b: 'fits',
  }),
  says(
    'the first taint that is not tolerated',
    clusterOf([
      node('a').taints({ key: 'x', value: '1', effect: 'NoSchedule' }, { key: 'y', effect: 'NoExecute' }),
      node('b').taints({ key: 'y', effect: 'NoExecute' }),
      node('c').taints({ key: 'z', effect: 'PreferNoSchedule' }),
    ]),
    pod('p').tolerates({ key: 'x', value: '1' }),
    { a: 'never: node(s) had untolerated taint {y: }', b: 'never: node(s) had untolerated taint {y: }', c: 'fits' },
  ),
  says('labels that are asked for', clusterOf([node('a').labels({ disk: 'ssd' }), node('b')]), pod('x').selects({ disk: 'ssd' }), {
    a: 'fits',
    b: AFFINITY,
  }),
  says(
    'one of several terms; labels that are absent are none of those',
    clusterOf([node('a').labels({ n: '5' }), node('b').labels({ disk: 'hdd' }), node('c').labels({ disk: 'ssd' })]),
    pod('x').affinity(
      needsNode(
        { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['4'] }] },
        { matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }] },
      ),
    ),
    { a: 'fits', b: AFFINITY, c: 'fits' },
  ),
  says('a term that says nothing', clusterOf([node('a')]), pod('x').affinity(needsNode({})), { a: AFFINITY }),
  says(
    'nodes by name, before all else',
    clusterOf([node('a').cordoned(), node('b').cordoned()]),
    pod('x').affinity(needsNode(named('b'))),
    { a: NOT_NAMED, b: UNSCHEDULABLE },
  ),
  says(
    'nodes by name only where each term has one',
    clusterOf([node('a'), node('b').labels({ x: '' })]),
    pod('x').affinity(needsNode(named('gone'), { matchExpressions: [{ key: 'x', operator: 'Exists' }] })),
    { a: AFFINITY, b: 'fits' },
  ),
  says(
    'what the profile demands of all',
    clusterOf([node('a').labels({ x: '' }), node('b')]),
    quiet,
    { a: 'fits', b: "never: node(s) didn't match scheduler-enforced node affinity" },
    { nodeAffinity: { addedAffinity: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'x', operator: 'Exists' }] }] } } },
  ),
  says('nothing of a filter that is off', clusterOf([node('a').cordoned()]), quiet, { a: 'fits' }, { filters: new Set() }),
  // Room.
  says(
    'ports: other protocols and addresses do not matter, every address matters to all',
    clusterOf(
      ['a', 'b', 'c', 'd'].map((name) => node(name)),
      [
        pod('a').port(80).on('a'),
        pod('b').port(80, 'UDP').on('b'),
        pod('c').port(80, 'TCP', '10.0.0.1').on('c'),
        pod('d').port(80, 'TCP', '10.0.0.2').on('d'),
      ],
    ),
    pod('x').port(80, 'TCP', '10.0.0.1'),
    { a: PORTS, b: 'fits', c: PORTS, d: 'fits' },
  ),
  says(
    'all that there is too little of, and what can never be enough',
    clusterOf(
      [node('a').has('pods', '1'), node('b').has('pods', '1'), node('c')],
      [pod('x').cpu('3500m').on('a'), pod('y').cpu('3500m').on('b'), pod('z').cpu('3500m').memory('6Gi').on('c')],
    ),
    pod('p').cpu('1').memory('3Gi').asks('example.com/gpu', '1'),
    {
      a: 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu',
      b: 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu',
      c: 'never: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu',
    },
  ),
  says(
    'exactly what is left, and nothing beyond it',
    clusterOf([node('a'), node('b')], [pod('x').cpu('3').on('a'), pod('y').cpu('3001m').on('b')]),
    pod('p').cpu('1'),
    { a: 'fits', b: 'now: Insufficient cpu' },
  ),
  says(
    'no amounts where none are asked for, but always a place',
    clusterOf([node('a').cpu('1'), node('b').has('pods', '1')], [pod('x').cpu('3').on('a'), pod('y').on('b')]),
    quiet,
    { a: 'fits', b: 'now: Too many pods' },
  ),
  says(
    'pods that are on their way out, not those that ended or whose node is gone',
    {
      ...clusterOf([node('a'), node('b')], [pod('x').cpu('4').on('a').terminating(), pod('y').cpu('4').on('gone')]),
      pods: [
        pod('x').cpu('4').on('a').terminating().build(),
        { ...pod('z').cpu('4').on('b').build(), status: { phase: 'Failed' } },
        pod('y').cpu('4').on('gone').build(),
      ],
    },
    pod('p').cpu('1'),
    { a: 'now: Insufficient cpu', b: 'fits' },
  ),
  says(
    'the largest step of a pod: what runs before, and what runs beside from then on',
    clusterOf([node('a').cpu('2500m'), node('b').cpu('2')]),
    pod('p')
      .cpu('1')
      .spec({
        initContainers: [
          { name: 'beside', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
          { name: 'before', resources: { requests: { cpu: '2' } } },
        ],
      }),
    { a: 'fits', b: 'never: Insufficient cpu' },
  ),
  says(
    'amounts, but for those that are ignored',
    clusterOf([node('a')]),
    pod('p').asks('example.com/gpu', '1').asks('x.org/y', '1').asks('x.org/z', '1'),
    { a: 'never: Insufficient x.org/z' },
    { fit: { ...plainProfile.fit, ignoredResources: new Set(['x.org/y']), ignoredResourceGroups: new Set(['example.com']) } },
  ),
  // NominatedPods.
  says(
    'who is promised a place and no less important',
    {
      ...clusterOf([node('a'), node('b'), node('c'), node('d')]),
      nominated: [
        { node: 'a', pod: pod('x').cpu('4').priority(5).build() },
        { node: 'b', pod: pod('y').cpu('4').priority(4).build() },
        { node: 'c', pod: pod('p').cpu('4').priority(9).build() },
      ],
    },
    pod('p').cpu('1').priority(5),
    { a: 'now: Insufficient cpu', b: 'fits', c: 'fits', d: 'fits' },
  ),
  says(
    'that a pod must not need those who are only promised',
    {
      ...clusterOf([node('a'), node('b')], [pod('y').labels({ app: 'db' }).on('b')]),
      nominated: [{ node: 'a', pod: pod('x').labels({ app: 'db' }).build() }],
    },
    pod('p').affinity({ podAffinity: required(near('db')) }),
    { a: ALONE, b: 'fits' },
  ),
];

for (const example of examples) testFilter(example);

const reads = (why: string, cluster: OracleCluster, pod: PodBuilder, text: string) => ({ why, cluster, pod: pod.build(), text });
const messages = [
  reads(
    'counts nodes by reason',
    clusterOf([node('a').cordoned(), node('b').cpu('1'), node('c').cpu('1')]),
    pod('x').cpu('2'),
    '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
  ),
  reads(
    'sorts as texts, and counts a node once for each reason',
    clusterOf(
      Array.from({ length: 12 }, (_, at) =>
        node(`n${at}`)
          .cpu('1')
          .has('pods', at < 2 ? '0' : '9'),
      ),
      [],
    ),
    pod('x').cpu('2'),
    '0/12 nodes are available: 12 Insufficient cpu, 2 Too many pods.',
  ),
  reads(
    'puts ten before two',
    clusterOf(Array.from({ length: 12 }, (_, at) => (at < 2 ? node(`n${at}`).has('pods', '0') : node(`n${at}`).cpu('1')))),
    pod('x').cpu('2'),
    '0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods.',
  ),
  reads('says when there is nothing', clusterOf([]), quiet, NO_NODES),
  reads('is empty when there is a node', clusterOf([node('a')]), quiet, ''),
  reads(
    'says of a contradiction nothing about nodes',
    clusterOf([node('a'), node('b').cordoned()]),
    pod('x').affinity(needsNode({ matchFields: [...(named('a').matchFields ?? []), ...(named('b').matchFields ?? [])] })),
    '0/2 nodes are available: pod affinity terms conflict.',
  ),
];

for (const { why, cluster, pod, text } of messages)
  test(`what users read ${why}`, () => {
    assert.equal(evaluate(cluster, pod, plainProfile).message, text);
    assert.equal(engineDiffers(cluster, pod, plainProfile), undefined);
  });

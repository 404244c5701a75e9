import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import type { OracleCluster } from './cluster.ts';
import { evaluate, NO_NODES } from './evaluate.ts';
import { clusterOf, engineDiffers, near, required, verdicts } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: which nodes may have a pod for what they are and have, and what is said of the others. */

interface Example {
  readonly why: string;
  readonly cluster: OracleCluster;
  readonly pod: Pod;
  /** See {@link verdicts}. */
  readonly says: Readonly<Record<string, string>>;
  readonly profile?: Partial<ProfileConfig>;
}

const needsNode = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const named = (...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
const quiet = pod('quiet').build();

const UNSCHEDULABLE = 'never: node(s) were unschedulable';
const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const NOT_NAMED = "never: node(s) didn't satisfy plugin(s) [NodeAffinity]";
const PORTS = "now: node(s) didn't have free ports for the requested pod ports";
const ALONE = "never: node(s) didn't match pod affinity rules";

const examples: readonly Example[] = [
  // The node itself.
  { why: 'a cordon', cluster: clusterOf([node('a'), node('b').cordoned()]), pod: quiet, says: { a: 'fits', b: UNSCHEDULABLE } },
  {
    why: 'a cordon that is tolerated',
    cluster: clusterOf([node('a').cordoned()]),
    pod: pod('x').tolerates({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }).build(),
    says: { a: 'fits' },
  },
  { why: 'a name', cluster: clusterOf([node('a'), node('b')]), pod: pod('x').on('b').build(), says: { a: "never: node(s) didn't match the requested node name", b: 'fits' } }, // prettier-ignore
  {
    why: 'the first taint that is not tolerated',
    cluster: clusterOf([
      node('a').taints({ key: 'x', value: '1', effect: 'NoSchedule' }, { key: 'y', effect: 'NoExecute' }),
      node('b').taints({ key: 'y', effect: 'NoExecute' }),
      node('c').taints({ key: 'z', effect: 'PreferNoSchedule' }),
    ]),
    pod: pod('p').tolerates({ key: 'x', value: '1' }).build(),
    says: { a: 'never: node(s) had untolerated taint {y: }', b: 'never: node(s) had untolerated taint {y: }', c: 'fits' },
  },
  {
    why: 'labels that are asked for',
    cluster: clusterOf([node('a').labels({ disk: 'ssd' }), node('b')]),
    pod: pod('x').selects({ disk: 'ssd' }).build(),
    says: { a: 'fits', b: AFFINITY },
  },
  {
    why: 'one of several terms; labels that are absent are none of those',
    cluster: clusterOf([node('a').labels({ n: '5' }), node('b').labels({ disk: 'hdd' }), node('c').labels({ disk: 'ssd' })]),
    pod: pod('x')
      .affinity(
        needsNode(
          { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['4'] }] },
          { matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }] },
        ),
      )
      .build(),
    says: { a: 'fits', b: AFFINITY, c: 'fits' },
  },
  {
    why: 'a term that says nothing',
    cluster: clusterOf([node('a')]),
    pod: pod('x').affinity(needsNode({})).build(),
    says: { a: AFFINITY },
  },
  {
    why: 'nodes by name, before all else',
    cluster: clusterOf([node('a').cordoned(), node('b').cordoned()]),
    pod: pod('x')
      .affinity(needsNode(named('b')))
      .build(),
    says: { a: NOT_NAMED, b: UNSCHEDULABLE },
  },
  {
    why: 'nodes by name only where each term has one',
    cluster: clusterOf([node('a'), node('b').labels({ x: '' })]),
    pod: pod('x')
      .affinity(needsNode(named('gone'), { matchExpressions: [{ key: 'x', operator: 'Exists' }] }))
      .build(),
    says: { a: AFFINITY, b: 'fits' },
  },
  {
    why: 'what the profile demands of all',
    cluster: clusterOf([node('a').labels({ x: '' }), node('b')]),
    pod: quiet,
    says: { a: 'fits', b: 'never: node(s) didn\'t match scheduler-enforced node affinity' }, // prettier-ignore
    profile: { nodeAffinity: { addedAffinity: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'x', operator: 'Exists' }] }] } } },
  },
  { why: 'nothing of a filter that is off', cluster: clusterOf([node('a').cordoned()]), pod: quiet, says: { a: 'fits' }, profile: { filters: new Set() } }, // prettier-ignore
  // Room.
  {
    why: 'ports: other protocols and addresses do not matter, every address matters to all',
    cluster: clusterOf(
      ['a', 'b', 'c', 'd'].map((name) => node(name)),
      [
        pod('a').port(80).on('a'),
        pod('b').port(80, 'UDP').on('b'),
        pod('c').port(80, 'TCP', '10.0.0.1').on('c'),
        pod('d').port(80, 'TCP', '10.0.0.2').on('d'),
      ],
    ),
    pod: pod('x').port(80, 'TCP', '10.0.0.1').build(),
    says: { a: PORTS, b: 'fits', c: PORTS, d: 'fits' },
  },
  {
    why: 'all that there is too little of, and what can never be enough',
    cluster: clusterOf(
      [node('a').has('pods', '1'), node('b').has('pods', '1'), node('c')],
      [pod('x').cpu('3500m').on('a'), pod('y').cpu('3500m').on('b'), pod('z').cpu('3500m').memory('6Gi').on('c')],
    ),
    pod: pod('p').cpu('1').memory('3Gi').asks('example.com/gpu', '1').build(),
    says: {
      a: 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu',
      b: 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu',
      c: 'never: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu',
    },
  },
  {
    why: 'exactly what is left, and nothing beyond it',
    cluster: clusterOf([node('a'), node('b')], [pod('x').cpu('3').on('a'), pod('y').cpu('3001m').on('b')]),
    pod: pod('p').cpu('1').build(),
    says: { a: 'fits', b: 'now: Insufficient cpu' },
  },
  {
    why: 'no amounts where none are asked for, but always a place',
    cluster: clusterOf([node('a').cpu('1'), node('b').has('pods', '1')], [pod('x').cpu('3').on('a'), pod('y').on('b')]),
    pod: quiet,
    says: { a: 'fits', b: 'now: Too many pods' },
  },
  {
    why: 'pods that are on their way out, not those that ended or whose node is gone',
    cluster: {
      ...clusterOf([node('a'), node('b')], [pod('x').cpu('4').on('a').terminating(), pod('y').cpu('4').on('gone')]),
      pods: [
        pod('x').cpu('4').on('a').terminating().build(),
        { ...pod('z').cpu('4').on('b').build(), status: { phase: 'Failed' } },
        pod('y').cpu('4').on('gone').build(),
      ],
    },
    pod: pod('p').cpu('1').build(),
    says: { a: 'now: Insufficient cpu', b: 'fits' },
  },
  {
    why: 'the largest step of a pod: what runs before, and what runs beside from then on',
    cluster: clusterOf([node('a').cpu('2500m'), node('b').cpu('2')]),
    pod: pod('p')
      .cpu('1')
      .spec({
        initContainers: [
          { name: 'beside', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
          { name: 'before', resources: { requests: { cpu: '2' } } },
        ],
      })
      .build(),
    says: { a: 'fits', b: 'never: Insufficient cpu' },
  },
  {
    why: 'amounts, but for those that are ignored',
    cluster: clusterOf([node('a')]),
    pod: pod('p').asks('example.com/gpu', '1').asks('x.org/y', '1').asks('x.org/z', '1').build(),
    says: { a: 'never: Insufficient x.org/z' },
    profile: { fit: { ...plainProfile.fit, ignoredResources: new Set(['x.org/y']), ignoredResourceGroups: new Set(['example.com']) } },
  },
  // NominatedPods.
  {
    why: 'who is promised a place and no less important',
    cluster: {
      ...clusterOf([node('a'), node('b'), node('c'), node('d')]),
      nominated: [
        { node: 'a', pod: pod('x').cpu('4').priority(5).build() },
        { node: 'b', pod: pod('y').cpu('4').priority(4).build() },
        { node: 'c', pod: pod('p').cpu('4').priority(9).build() },
      ],
    },
    pod: pod('p').cpu('1').priority(5).build(),
    says: { a: 'now: Insufficient cpu', b: 'fits', c: 'fits', d: 'fits' },
  },
  {
    why: 'that a pod must not need those who are only promised',
    cluster: {
      ...clusterOf([node('a'), node('b')], [pod('y').labels({ app: 'db' }).on('b')]),
      nominated: [{ node: 'a', pod: pod('x').labels({ app: 'db' }).build() }],
    },
    pod: pod('p')
      .affinity({ podAffinity: required(near('db')) })
      .build(),
    says: { a: ALONE, b: 'fits' },
  },
];

for (const { why, cluster, pod, says, profile } of examples)
  test(`a node is judged by ${why}`, () => {
    const whole = { ...plainProfile, ...profile };
    assert.deepEqual(verdicts(cluster, pod, whole), says);
    assert.equal(engineDiffers(cluster, pod, whole), undefined);
  });

const messages: readonly (Pick<Example, 'why' | 'cluster' | 'pod'> & { readonly text: string })[] = [
  {
    why: 'counts nodes by reason',
    cluster: clusterOf([node('a').cordoned(), node('b').cpu('1'), node('c').cpu('1')]),
    pod: pod('x').cpu('2').build(),
    text: '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
  },
  {
    why: 'sorts as texts, and counts a node once for each reason',
    cluster: clusterOf(
      Array.from({ length: 12 }, (_, at) =>
        node(`n${at}`)
          .cpu('1')
          .has('pods', at < 2 ? '0' : '9'),
      ),
      [],
    ),
    pod: pod('x').cpu('2').build(),
    text: '0/12 nodes are available: 12 Insufficient cpu, 2 Too many pods.',
  },
  {
    why: 'puts ten before two',
    cluster: clusterOf(Array.from({ length: 12 }, (_, at) => (at < 2 ? node(`n${at}`).has('pods', '0') : node(`n${at}`).cpu('1')))),
    pod: pod('x').cpu('2').build(),
    text: '0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods.',
  },
  { why: 'says when there is nothing', cluster: clusterOf([]), pod: quiet, text: NO_NODES },
  { why: 'is empty when there is a node', cluster: clusterOf([node('a')]), pod: quiet, text: '' },
  {
    why: 'says of a contradiction nothing about nodes',
    cluster: clusterOf([node('a'), node('b').cordoned()]),
    pod: pod('x')
      .affinity(needsNode({ matchFields: [...(named('a').matchFields ?? []), ...(named('b').matchFields ?? [])] }))
      .build(),
    text: '0/2 nodes are available: pod affinity terms conflict.',
  },
];

for (const { why, cluster, pod, text } of messages)
  test(`what users read ${why}`, () => {
    assert.equal(evaluate(cluster, pod, plainProfile).message, text);
    assert.equal(engineDiffers(cluster, pod, plainProfile), undefined);
  });

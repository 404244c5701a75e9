import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../builders.ts';
import { evaluate, NO_NODES } from './evaluate.ts';
import { clusterOf, engineDiffers, testFilter } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: which nodes may have a pod for what they are and have, and what is said of the others. examples.ts says how nodes and pods are written. */

const needsNode = (...nodeSelectorTerms: NodeSelectorTerm[]) =>
  pod('asks').affinity({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } });
const named = (...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
const has = (key: string): NodeSelectorTerm => ({ matchExpressions: [{ key, operator: 'Exists' }] });
const quiet = pod('quiet');
const asks = () => pod('asks');

const FITS = 'fits';
const FEATURES = "never: node(s) didn't match Pod's required features";
const CORDONED = 'never: node(s) were unschedulable';
const TAINTED = 'never: node(s) had untolerated taint {y: }';
const OTHER_NAME = "never: node(s) didn't match the requested node name";
const AFFINITY = "never: node(s) didn't match Pod's node affinity/selector";
const NOT_NAMED = "never: node(s) didn't satisfy plugin(s) [NodeAffinity]";
const ENFORCED = "never: node(s) didn't match scheduler-enforced node affinity";
const PORTS = "now: node(s) didn't have free ports for the requested pod ports";

const CPU = 'now: Insufficient cpu';
const NEVER_CPU = 'never: Insufficient cpu';

const PLACES_CPU_GPU = 'never: Too many pods, Insufficient cpu, Insufficient example.com/gpu';

// The node itself.
testFilter('a cordon', 'a, b cordoned', '', quiet, [FITS, CORDONED]);
const sharing = [node('a').declares('Other', 'UserNamespacesHostNetworkSupport'), node('b').declares('Other'), node('c')];
const inHostNetwork = asks().spec({ hostNetwork: true, hostUsers: false });
testFilter('features that a pod needs and nodes declare', sharing, '', inHostNetwork, [FITS, FEATURES, FEATURES]);
testFilter('a name', 'a, b', '', asks().on('b'), [OTHER_NAME, FITS]);
const taints = 'a x=1:NoSchedule y:NoExecute, b y:NoExecute, c z:PreferNoSchedule';
testFilter('the first taint that is not tolerated', taints, '', asks().tolerates({ key: 'x', value: '1' }), [TAINTED, TAINTED, FITS]);
testFilter('labels that are asked for', 'a disk=ssd, b', '', asks().selects({ disk: 'ssd' }), [FITS, AFFINITY]);
const either = needsNode(
  { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['4'] }] },
  { matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }] },
);
testFilter('one of several terms; labels that are absent are none of those', 'a n=5, b disk=hdd, c disk=ssd', '', either, [
  FITS,
  AFFINITY,
  FITS,
]);
testFilter('nodes by name, before all else', 'a cordoned, b cordoned', '', needsNode(named('b')), [NOT_NAMED, CORDONED]);
const demands = { profile: { nodeAffinity: { addedAffinity: { nodeSelectorTerms: [has('x')] } } } };
testFilter('what the profile demands of all', 'a x=, b', '', quiet, [FITS, ENFORCED], demands);

// Room.
const ports = [
  pod('a').port(80).on('a'),
  pod('b').port(80, 'UDP').on('b'),
  pod('c').port(80, 'TCP', '10.0.0.1').on('c'),
  pod('d').port(80, 'TCP', '10.0.0.2').on('d'),
];
const port = asks().port(80, 'TCP', '10.0.0.1');
testFilter('ports: other protocols and addresses do not matter, every address matters to all', 'a, b, c, d', ports, port, [
  PORTS,
  FITS,
  PORTS,
  FITS,
]);
testFilter(
  'all that there is too little of, and what can never be enough',
  'a pods=1, b pods=1, c',
  'x@a cpu=3500m, y@b cpu=3500m, z@c cpu=3500m memory=6Gi',
  asks().cpu('1').memory('3Gi').asks('example.com/gpu', '1'),
  [PLACES_CPU_GPU, PLACES_CPU_GPU, 'never: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu'],
);
testFilter('exactly what is left, and nothing beyond it', 'a, b', 'x@a cpu=3, y@b cpu=3001m', asks().cpu('1'), [FITS, CPU]);
const failed = { ...pod('z').cpu('4').on('b').build(), status: { phase: 'Failed' } };
const there = { pods: [...clusterOf('', 'x@a cpu=4 leaving, y@gone cpu=4').pods, failed] };
testFilter('pods that are on their way out, not those that ended or whose node is gone', 'a, b', '', asks().cpu('1'), [CPU, FITS], there);
const initContainers = [
  { name: 'beside', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
  { name: 'before', resources: { requests: { cpu: '2' } } },
];
const inSteps = asks().cpu('1').spec({ initContainers });
testFilter('the largest step of a pod: what runs before, and what runs beside from then on', 'a cpu=2500m, b cpu=2', '', inSteps, [
  FITS,
  NEVER_CPU,
]);
const ignoring = { fit: { ...plainProfile.fit, ignoredResources: new Set(['x.org/y']), ignoredResourceGroups: new Set(['example.com']) } };
const scalars = asks().asks('example.com/gpu', '1').asks('x.org/y', '1').asks('x.org/z', '1');
testFilter('amounts, but for those that are ignored', 'a', '', scalars, ['never: Insufficient x.org/z'], { profile: ignoring });

// Nominated pods.
const nominated = 'x@a cpu=4 priority=5, y@b cpu=4 priority=4, asks@c cpu=4 priority=9';
const lesser = asks().cpu('1').priority(5);
testFilter('who is promised a place and no less important', 'a, b, c, d', '', lesser, [CPU, FITS, FITS, FITS], { nominated });
const dozen = (of: (at: number) => string): string => Array.from({ length: 12 }, (_, at) => `n${at} ${of(at)}`).join(', ');
const nobody = needsNode({ matchFields: [...(named('a').matchFields ?? []), ...(named('b').matchFields ?? [])] });
const counted = '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.';
const row = (why: string, nodes: string, asking: ReturnType<typeof asks>, text: string) => ({ why, nodes, asking, text });
const messages = [
  row('counts nodes by reason', 'a cordoned, b cpu=1, c cpu=1', asks().cpu('2'), counted),
  row(
    'sorts as texts, and counts a node once for each reason',
    dozen((at) => `cpu=1 pods=${at < 2 ? 0 : 9}`),
    asks().cpu('2'),
    '0/12 nodes are available: 12 Insufficient cpu, 2 Too many pods.',
  ),
  row('says when there is nothing', '', quiet, NO_NODES),
  row('says of a contradiction nothing about nodes', 'a, b cordoned', nobody, '0/2 nodes are available: pod affinity terms conflict.'),
];
for (const { why, nodes, asking, text } of messages)
  test(`what users read ${why}`, () => {
    assert.equal(evaluate(clusterOf(nodes), asking.build(), plainProfile).message, text);
    assert.equal(engineDiffers(clusterOf(nodes), asking.build(), plainProfile), undefined);
  });

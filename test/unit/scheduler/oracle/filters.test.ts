import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../builders.ts';
import { evaluate } from './evaluate.ts';
import { clusterOf, engineDiffers, HOST, near, required, spread, testFilter, wishing, ZONE } from './examples.ts';
import { plainProfile } from './profile.ts';

/* Worked examples: which nodes may have a pod, and what is said of the others. examples.ts says how nodes, pods and verdicts are written. */

const needsNode = (...nodeSelectorTerms: NodeSelectorTerm[]) =>
  pod('asks').affinity({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } });
const named = (...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });

const quiet = pod('quiet');
const asks = () => pod('asks');
type Rule = Parameters<typeof spread>[2];
const web = () => asks().labels({ app: 'web' });
const hard = (...rules: ReturnType<typeof spread>[]) => web().spec({ topologySpreadConstraints: rules });
const by = (topologyKey: string, more?: Rule) => spread(topologyKey, 'DoNotSchedule', more);

// The node itself.
testFilter('a cordon', 'a, b cordoned', '', quiet, 'ok cordon');
const sharing = [node('a').declares('Other', 'UserNamespacesHostNetworkSupport'), node('b').declares('Other'), node('c')];
const inHostNetwork = asks().spec({ hostNetwork: true, hostUsers: false });
testFilter('features that a pod needs and nodes declare', sharing, '', inHostNetwork, 'ok features features');
testFilter('a name', 'a, b', '', asks().on('b'), 'name ok');
const taints = 'a y=1:NoSchedule x:NoExecute, b x:NoExecute, c z:PreferNoSchedule';
testFilter('the first taint that is not tolerated', taints, '', asks().tolerates({ key: 'y', value: '1' }), 'taint taint ok');
testFilter('labels that are asked for', 'a disk=ssd, b', '', asks().selects({ disk: 'ssd' }), 'ok affinity');
const either = needsNode(
  { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['4'] }] },
  { matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }] },
);
testFilter('one of several terms; labels that are absent are none of those', 'a n=5, b disk=hdd, c disk=ssd', '', either, 'ok affinity ok');
testFilter('nodes by name, before all else', 'a cordoned, b cordoned', '', needsNode(named('b')), 'unnamed cordon');

// Room.
const ports = [
  pod('a').port(80).on('a'),
  pod('b').port(80, 'UDP').on('b'),
  pod('c').port(80, 'TCP', '10.0.0.1').on('c'),
  pod('d').port(80, 'TCP', '10.0.0.2').on('d'),
];
const port = asks().port(80, 'TCP', '10.0.0.1');
testFilter('a port of the same protocol and address, or of every address', 'a, b, c, d', ports, port, 'ports ok ports ok');
const crowded = 'x@a cpu=3500m, y@b cpu=3500m, z@c cpu=3500m memory=6Gi';
const much = asks().cpu('1').memory('3Gi').asks('example.com/gpu', '1');
testFilter('all that there is too little of', 'a pods=1, b pods=1, c', crowded, much, 'places+cpu+gpu places+cpu+gpu cpu+memory+gpu');
testFilter('exactly what is left, and nothing beyond it', 'a, b', 'x@a cpu=3, y@b cpu=3001m', asks().cpu('1'), 'ok cpu');
const failed = pod('z').cpu('4').on('b').status({ phase: 'Failed' }).build();
const there = { pods: [...clusterOf('', 'x@a cpu=4 leaving, y@gone cpu=4').pods, failed] };
testFilter('pods that are on their way out, not those that ended or whose node is gone', 'a, b', '', asks().cpu('1'), 'cpu ok', there);
const initContainers = [
  { name: 'beside', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
  { name: 'before', resources: { requests: { cpu: '2' } } },
];
const inSteps = asks().cpu('1').spec({ initContainers });
testFilter('the largest step of a pod: what runs before, and what beside', 'a cpu=2500m, b cpu=2', '', inSteps, 'ok cpu!');
const ignoring = { fit: { ...plainProfile.fit, ignoredResources: new Set(['x.org/y']), ignoredResourceGroups: new Set(['example.com']) } };
const scalars = asks().asks('example.com/gpu', '1').asks('x.org/y', '1').asks('x.org/z', '1');
testFilter('amounts, but for those that are ignored', 'a', '', scalars, 'z', { profile: ignoring });

// Nominated pods.
const nominated = 'x@a cpu=4 priority=5, y@b cpu=4 priority=4, asks@c cpu=4 priority=9';
const lesser = asks().cpu('1').priority(5);
testFilter('who is promised a place and no less important', 'a, b, c, d', '', lesser, 'cpu ok ok ok', { nominated });

// Spreading.
const zones = 'a zone=1, b zone=2, c';
testFilter('how far domains may be apart, the pod itself included', zones, 'web@a, web@a, web@b', hard(by(ZONE)), 'skew ok unlabelled');

const chosen = 'a zone=1 good=, b zone=2, c zone=3 good=';
const choosing = (more?: Rule) => hard(by(ZONE, more)).selects({ good: '' });
testFilter('only nodes that the pod chose', chosen, 'web@a, web@c', choosing(), 'ok affinity ok');

const tainted = 'a, b x:NoSchedule';
testFilter('tainted nodes, or not when told so', tainted, 'web@a', hard(by(HOST, { nodeTaintsPolicy: 'Honor' })), 'ok taint');
const racks = 'a zone=1 rack=1, b zone=2 rack=2, c zone=3';
const both = hard(by(ZONE), by('rack'));
testFilter('only nodes with the labels of all rules, and the first rule that is broken', racks, 'web@a, web@b', both, 'ok ok unlabelled');
const ofRevision = hard(by(HOST, { matchLabelKeys: ['rev', 'none'] })).labels({ rev: '2' });
testFilter('only pods of the same revision when told so', 'a, b', 'web@a rev=1', ofRevision, 'ok ok');

// Other pods.
const beside = (...terms: Parameters<typeof required>) => ({ podAffinity: required(...terms) });
const awayFrom = (...terms: Parameters<typeof required>) => ({ podAntiAffinity: required(...terms) });
const withDb = asks().affinity(beside(near('db', ZONE)));
testFilter('friends in the zone, also leaving ones', 'a zone=1, b zone=1, c zone=2, d', 'db@a leaving', withDb, 'ok ok alone alone');

const ownKind = () => web().affinity(beside(near('web', ZONE)));
testFilter('that the first of a group goes anywhere with the label', 'a zone=1, b', '', ownKind(), 'ok alone');

const noWeb = asks().affinity(awayFrom(near('web', ZONE)));
testFilter('foes in the zone; nodes without a zone have none', 'a zone=1, b zone=1, c', 'web@a, web@c', noWeb, 'foe foe ok');
const objecting = [
  wishing('x', 'a', awayFrom(near('web'))),
  wishing('other/y', 'b', awayFrom(near('web'))),
  wishing('other/z', 'c', awayFrom(near('web', HOST, { namespaces: ['default'] }))),
];
testFilter('who does not want this pod, of own namespace where no other is said', 'a, b, c', objecting, web(), 'objection ok objection');
const anywhere = asks().affinity(awayFrom(near('web', HOST, { namespaceSelector: {} }), { topologyKey: HOST }));
testFilter('all namespaces for an empty selector of them, no pods without a selector', 'a, b', 'other/web@a', anywhere, 'foe ok');

const dozen = Array.from({ length: 12 }, (_, at) => `n${at} cpu=1 pods=${at < 2 ? 0 : 9}`).join(', ');
const nobody = needsNode({ matchFields: [...(named('a').matchFields ?? []), ...(named('b').matchFields ?? [])] });
const both12 = '0/12 nodes are available: 12 Insufficient cpu, 2 Too many pods.';
const counted = '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.';
const row = (why: string, nodes: string, asking: ReturnType<typeof asks>, text: string) => ({ why, nodes, asking, text });
const messages = [
  row('counts nodes by reason', 'a cordoned, b cpu=1, c cpu=1', asks().cpu('2'), counted),
  row('counts a node once for each reason, sorted as texts', dozen, asks().cpu('2'), both12),
  row('says of a contradiction nothing about nodes', 'a, b cordoned', nobody, '0/2 nodes are available: pod affinity terms conflict.'),
];
for (const { why, nodes, asking, text } of messages)
  test(`what users read ${why}`, () => {
    assert.equal(evaluate(clusterOf(nodes), asking.build(), plainProfile).message, text);
    assert.equal(engineDiffers(clusterOf(nodes), asking.build(), plainProfile), undefined);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeBinding,
  decodeFilter,
  decodePreempt,
  decodePriorities,
  encodeBinding,
  encodeCandidates,
  encodeNodes,
  inOrder,
  isInterested,
} from '../../../../scheduler/extenders/protocol.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { node, pod } from '../builders.ts';
import { extenderConfig } from './extender-server.ts';

const asking = pod('shop/p').uid('uid-p').build();
const nodes = ['a', 'b'].map((name) => node(name).build());
const victim = podInfoOf(pod('shop/v').uid('uid-v').on('a').build());
const candidates = [{ node: 'a', victims: [victim], violations: 1 }];

const meta = { NodeNameToVictims: null, NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-v' }], NumPDBViolations: 1 } } };
const whole = { NodeNameToVictims: { a: { Pods: [victim.pod], NumPDBViolations: 1 } }, NodeNameToMetaVictims: null };
const binding = { PodName: 'p', PodNamespace: 'shop', PodUID: 'uid-p', Node: 'a' };
const told = (why: string, text: string, says: object) => ({ why, text, says });
const encoded = [
  told('nodes by name', encodeNodes(asking, nodes, true), { Pod: asking, Nodes: null, NodeNames: ['a', 'b'] }),
  told('a binding', encodeBinding(podInfoOf(asking), 'a'), binding),
  told('candidates with their victims', encodeCandidates(asking, candidates, false), { Pod: asking, ...whole }),
  told('candidates with their victims by uid', encodeCandidates(asking, candidates, true), { Pod: asking, ...meta }),
];

for (const { why, text, says } of encoded) test(`an extender is told ${why}`, () => assert.deepEqual(JSON.parse(text), says));

const filter = (answer: unknown): unknown => {
  const { failed, unresolvable, ...lists } = decodeFilter(answer);
  return { ...lists, failed: Object.fromEntries(failed), unresolvable: Object.fromEntries(unresolvable) };
};
const preempt = (answer: unknown): unknown => Object.fromEntries(decodePreempt(answer));
const nothing = { nodes: undefined, nodeNames: undefined, failed: {}, unresolvable: {}, error: '' };

const row = (read: (answer: unknown) => unknown, why: string, answer: unknown, says: unknown) => ({ read, why, answer, says });
const items = [{ metadata: { name: 'a' } }];
const failed = { FailedNodes: { c: 'full' }, FailedAndUnresolvableNodes: { d: 'gone' }, Error: 'x' };
const once = { failedNodes: { c: 'full' }, failedAndUnresolvableNodes: { d: 'gone' }, error: 'x' };
const everything = { nodes: ['a'], nodeNames: ['b'], failed: { c: 'full' }, unresolvable: { d: 'gone' }, error: 'x' };

const scores = [
  { Host: 'a', Score: 10 },
  { host: 'b', score: 3 },
];
const twoVictims = { a: { uids: ['u'], violations: 2 } };
const decoded = [
  row(filter, 'nothing', {}, nothing),
  row(filter, 'null', null, nothing),
  row(filter, 'everything, as it is written today', { Nodes: { metadata: {}, items }, NodeNames: ['b'], ...failed }, everything),
  row(filter, 'everything, as it was written once', { nodes: { items }, nodenames: ['b'], ...once }, everything),
  row(decodePriorities, 'scores', scores, [
    { host: 'a', score: 10 },
    { host: 'b', score: 3 },
  ]),
  row(decodeBinding, 'a binding', { Error: '' }, ''),
  row(decodeBinding, 'a binding that failed', { error: 'no' }, 'no'),
  row(preempt, 'victims', { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'u' }], NumPDBViolations: 2 } } }, twoVictims),
  row(preempt, 'a node without victims', { NodeNameToMetaVictims: { a: null } }, { a: { uids: [], violations: 0 } }),
];

for (const { why, read, answer, says } of decoded)
  test(`an extender says ${why}`, () => assert.deepEqual(JSON.parse(JSON.stringify(read(answer))), JSON.parse(JSON.stringify(says))));

const OF_A = 'NodeNameToMetaVictims["a"]';
const refuses = (read: (answer: unknown) => unknown, answer: unknown, says: string) => ({ read, answer, says });
const refused = [
  refuses(filter, [], 'the answer must be an object, not a list'),
  refuses(filter, { Nodes: [] }, 'Nodes must be an object, not a list'),
  refuses(filter, { Nodes: { items: [null] } }, 'Nodes.items[0].metadata.name must be a string that is not empty, not absent'),
  refuses(decodePriorities, {}, 'the answer must be a list, not an object'),
  refuses(preempt, { NodeNameToMetaVictims: { a: { Pods: [{}] } } }, `${OF_A}.Pods[0].UID must be a string that is not empty, not absent`),
];

for (const { read, answer, says } of refused)
  test(`an answer is refused: ${says}`, () => assert.throws(() => read(answer), { name: 'AnswerError', message: says }));

const gpu = { name: 'example.com/gpu', ignoredByScheduler: true };

const withContainer = (where: 'containers' | 'initContainers', resources: object): Pod =>
  pod('p')
    .spec({ [where]: [{ name: 'one' }, { name: 'two', resources }] })
    .build();

const interest = (why: string, is: boolean, managed: (typeof gpu)[], asking: Pod) => ({ why, is, managed, asking });
const interests = [
  interest('every pod where it manages nothing', true, [], pod('p').build()),
  interest('no pod without its resource', false, [gpu], pod('p').cpu('1').build()),
  interest('a pod that asks for it', true, [gpu], withContainer('containers', { requests: { 'example.com/gpu': '1' } })),
];

for (const { why, managed, asking, is } of interests)
  test(`an extender is asked about ${why}`, () =>
    assert.equal(isInterested(extenderConfig('http://x', { managedResources: managed }), asking), is));

test('those that nothing depends on come last, the others stay in order', () => {
  const named = (urlPrefix: string, ignorable = false) => extenderConfig(urlPrefix, { ignorable });
  assert.deepEqual(
    inOrder([named('a', true), named('b'), named('c', true), named('d')]).map(({ urlPrefix }) => urlPrefix),
    ['b', 'd', 'a', 'c'],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addScores, candidatesLeft, survivorsOf } from '../../../../scheduler/extenders/apply-answer.ts';
import * as protocol from '../../../../scheduler/extenders/protocol.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { node, pod } from '../builders.ts';
import { extenderConfig } from './extender-server.ts';

// What an extender is told, and says.

const asking = pod('shop/p').uid('uid-p').build();
const nodes = ['a', 'b'].map((name) => node(name).build());
const victim = podInfoOf(pod('shop/v').uid('uid-v').on('a').build());
const candidates = [{ node: 'a', victims: [victim], violations: 1 }];
const meta = { NodeNameToVictims: null, NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-v' }], NumPDBViolations: 1 } } };

const objects = { Pod: asking, Nodes: { metadata: {}, items: nodes }, NodeNames: null };
const encoded: [why: string, text: string, says: object][] = [
  ['nodes by name', protocol.encodeNodes(asking, nodes, true), { Pod: asking, Nodes: null, NodeNames: ['a', 'b'] }],
  ['nodes as objects', protocol.encodeNodes(asking, nodes, false), objects],
  ['candidates with their victims by uid', protocol.encodeCandidates(asking, candidates, true), { Pod: asking, ...meta }],
];
for (const [why, text, says] of encoded) test(`an extender is told ${why}`, () => assert.deepEqual(JSON.parse(text), says));

type Read = (answer: unknown) => unknown;
const filter: Read = (answer) => {
  const { failed, unresolvable, ...lists } = protocol.decodeFilter(answer);
  return { ...lists, failed: Object.fromEntries(failed), unresolvable: Object.fromEntries(unresolvable) };
};
const preempt: Read = (answer) => Object.fromEntries(protocol.decodePreempt(answer));
const priorities: Read = protocol.decodePriorities;
const items = [{ metadata: { name: 'a' } }];

const once = { failedNodes: { c: 'full' }, failedAndUnresolvableNodes: { d: 'gone' }, error: 'x' };
const everything = { nodes: ['a'], nodeNames: ['b'], failed: { c: 'full' }, unresolvable: { d: 'gone' }, error: 'x' };
const decoded: [why: string, read: Read, answer: unknown, says: unknown][] = [
  ['nothing', filter, null, { failed: {}, unresolvable: {}, error: '' }],
  ['everything, as it was written once', filter, { nodes: { items }, nodenames: ['b'], ...once }, everything],
  ['scores, once and today', priorities, [{ Host: 'a', Score: 10 }, { host: 'b', score: 3 }], [{ host: 'a', score: 10 }, { host: 'b', score: 3 }]],
  ['a binding that failed', protocol.decodeBinding, { error: 'no' }, 'no'],
  ['victims', preempt, { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'u' }], NumPDBViolations: 2 } } }, { a: { uids: ['u'], violations: 2 } }],
  ['a node without victims', preempt, { NodeNameToMetaVictims: { a: null } }, { a: { uids: [], violations: 0 } }],
]; // prettier-ignore
for (const [why, read, answer, says] of decoded)
  test(`an extender says ${why}`, () => assert.deepEqual(JSON.parse(JSON.stringify(read(answer))), says));

const OF_A = 'NodeNameToMetaVictims["a"]';
const refused: [read: Read, answer: unknown, says: string][] = [
  [filter, [], 'the answer must be an object, not a list'],
  [filter, { Nodes: { items: [null] } }, 'Nodes.items[0].metadata.name must be a string that is not empty, not absent'],
  [filter, { NodeNames: ['a', 1] }, 'NodeNames[1] must be a string, not the number 1'],
  [filter, { NodeNames: [''] }, 'NodeNames[0] must be a string that is not empty, not an empty one'],
  [priorities, {}, 'the answer must be a list, not an object'],
  [priorities, [{ Host: 'a', Score: 1.5 }], '[0].Score must be a whole number of 32 bits, not the number 1.5'],
  [preempt, { NodeNameToMetaVictims: { a: { Pods: [{}] } } }, `${OF_A}.Pods[0].UID must be a string that is not empty, not absent`],
  [preempt, { NodeNameToMetaVictims: { a: { NumPDBViolations: -1 } } }, `${OF_A}.NumPDBViolations must be 0 or more, not the number -1`],
];
for (const [read, answer, says] of refused)
  test(`an answer is refused: ${says}`, () => assert.throws(() => read(answer), { name: 'AnswerError', message: says }));

test('an extender is asked about pods that ask for what it manages, and about all where it manages nothing', () => {
  const gpu = extenderConfig('http://x', { managedResources: [{ name: 'example.com/gpu', ignoredByScheduler: true }] });
  const asked = (of: typeof gpu, by: ReturnType<typeof pod>) => protocol.isInterested(of, by.build());
  assert.deepEqual([asked(gpu, pod('p').cpu('1')), asked(gpu, pod('p').asks('example.com/gpu', '1'))], [false, true]);
  assert.equal(asked(extenderConfig('http://x'), pod('p')), true);
});

test('ignorable extenders come last, the others stay in order', () => {
  const all = ['a', 'b', 'c', 'd'].map((urlPrefix) => extenderConfig(urlPrefix, { ignorable: 'ac'.includes(urlPrefix) }));
  assert.equal(protocol.inOrder(all).map(({ urlPrefix }) => urlPrefix).join(''), 'bdac'); // prettier-ignore
});

// What becomes of an answer.

const named = (...names: string[]) => ({ Nodes: { items: names.map((name) => ({ metadata: { name } })) } });

/** Asked about a, b and c. `refused`: NODE for one where preemption may help, NODE! for one where it cannot, and the reason. */
const filters: [why: string, answer: object, survivors: string, refused: Record<string, string>][] = [
  ['keeps those that it names', { NodeNames: ['c', 'a'], FailedNodes: { b: 'full' } }, 'a c', { b: 'full' }],
  ['keeps none without a list', {}, '', { 'a!': 'nothing', 'b!': 'nothing', 'c!': 'nothing' }],
  ['takes names before objects from who was sent names', { ...named('b'), NodeNames: ['a', 'c'] }, 'a c', { 'b!': 'nothing' }],
];
for (const [why, answer, survivors, refusals] of filters)
  test(`a filter ${why}`, () => {
    const verdict = survivorsOf(['a', 'b', 'c'], protocol.decodeFilter(answer), true);
    assert.equal(verdict.survivors.join(' '), survivors);
    const found = [...verdict.refused].map(([name, one]) => [one.resolvable ? name : `${name}!`, one.reasons.join() || 'nothing']);
    assert.deepEqual(Object.fromEntries(found), refusals);
  });

test('a filter is refused that has a node which was not in the request', () =>
  assert.throws(() => survivorsOf(['a'], protocol.decodeFilter(named('z')), false), /^AnswerError: Nodes has node "z", which was not in/));

test('scores add up, for nodes that were asked about', () => {
  const scores = new Map([['a', 5]]);
  const given = { a: 3, b: 2, z: 9 };
  addScores(scores, new Set(['a', 'b', 'c']), Object.entries(given).map(([host, score]) => ({ host, score })), 20); // prettier-ignore
  assert.deepEqual(Object.fromEntries(scores), { a: 65, b: 40 });
});

const at = (name: string, priority: number, on = 'a'): PodInfo => podInfoOf(pod(name).uid(name).on(on).priority(priority).build());
const [low, lower, equal] = [at('low', 5), at('lower', 1), at('equal', 10)];
const there = [{ node: 'a', victims: [low], violations: 1 }, { node: 'b', victims: [at('elsewhere', 1, 'b')], violations: 0 }]; // prettier-ignore
const asked = { pod: at('p', 10, ''), candidates: there, podsOn: (on: string) => (on === 'a' ? [equal, lower, low] : []), now: 0 };
/** By node: uids of victims. */
const victims = (byNode: Record<string, string[]>, NumPDBViolations = 0): object => {
  const entries = Object.entries(byNode).map(([name, uids]) => [name, { Pods: uids.map((UID) => ({ UID })), NumPDBViolations }]);
  return { NodeNameToMetaVictims: Object.fromEntries(entries) as object };
};
const notLess = `${OF_A} has pod (UID: equal), whose priority is not lower than that of the preempting pod`;
const left: [why: string, answer: object, says: string | RegExp, lenient?: boolean][] = [
  ['all', victims({ b: ['elsewhere'], a: ['low'] }, 2), 'a: low (2), b: elsewhere (2)'],
  ['those with victims, if ignorable', victims({ a: [], b: ['elsewhere'] }), 'b: elsewhere (0)', true],
  ['a node without victims', victims({ a: [] }), 'expected at least one victim pod on node "a"'],
  ['a pod of another node', victims({ a: ['elsewhere'] }), `${OF_A} has pod (UID: elsewhere), which is not on that node`],
  ['a pod that is as important', victims({ a: ['equal'] }), notLess],
];
for (const [why, answer, says, lenient = false] of left)
  test(`of the candidates an extender leaves ${why}`, () => {
    const leave = () => candidatesLeft(asked, protocol.decodePreempt(answer), lenient);
    const words = () => leave().map((one) => `${one.node}: ${one.victims.map(({ name }) => name).join(' ')} (${one.violations})`);
    if (why.startsWith('a ')) assert.throws(leave, { name: 'AnswerError', message: says });
    else assert.equal(words().join(', '), says);
  });

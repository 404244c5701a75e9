import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addScores, candidatesLeft, survivorsOf } from '../../../../scheduler/extenders/apply-answer.ts';
import { decodeFilter, decodePreempt } from '../../../../scheduler/extenders/protocol.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';

const nodes = (...names: string[]) => ({ Nodes: { items: names.map((name) => ({ metadata: { name } })) } });
const NONE = { 'a!': 'nothing', 'b!': 'nothing', 'c!': 'nothing' };

/** Asked about a, b and c. `refused`: NODE for one where preemption may help, NODE! for one where it cannot, and the reason. @param sent - what the extender was sent */
const row = (why: string, answer: object, survivors: string, refused: Record<string, string>, sent: 'names' | 'objects' = 'names') => ({
  why,
  answer,
  survivors,
  refused,
  sent,
});
const gone = { FailedNodes: { c: 'full' }, FailedAndUnresolvableNodes: { c: 'gone' } };

const filters = [
  row('keeps those that it names', { NodeNames: ['c', 'a'], FailedNodes: { b: 'full' } }, 'a c', { b: 'full' }),
  row('keeps none without a list', {}, '', NONE),
  row('takes names before objects from who was sent names', { ...nodes('b'), NodeNames: ['a', 'c'] }, 'a c', { 'b!': 'nothing' }),
  row('takes what preemption cannot help before what it can', { NodeNames: ['a', 'b'], ...gone }, 'a b', { 'c!': 'gone' }),
  row('keeps one that is named on both sides', { NodeNames: ['a', 'b', 'c'], FailedNodes: { a: 'x' } }, 'a b c', {}),
];
for (const { why, answer, sent, survivors, refused } of filters)
  test(`a filter ${why}`, () => {
    const verdict = survivorsOf(['a', 'b', 'c'], decodeFilter(answer), sent === 'names');
    assert.equal(verdict.survivors.join(' '), survivors);
    const found = [...verdict.refused].map(([name, { resolvable, reasons }]) => {
      assert.ok(reasons.length <= 1);
      return [resolvable ? name : `${name}!`, reasons[0] ?? 'nothing'];
    });
    assert.deepEqual(Object.fromEntries(found), refused);
  });

test('a filter is refused that has a node which was not in the request', () =>
  assert.throws(() => survivorsOf(['a'], decodeFilter(nodes('z')), false), {
    name: 'AnswerError',
    message: 'Nodes has node "z", which was not in the request',
  }));

test('scores add up, for nodes that were asked about', () => {
  const scores = new Map([['a', 5]]);
  const given = { a: 3, b: 2, z: 9 };
  addScores(scores, new Set(['a', 'b', 'c']), Object.entries(given).map(([host, score]) => ({ host, score })), 20); // prettier-ignore
  assert.deepEqual(Object.fromEntries(scores), { a: 65, b: 40 });
});

const at = (name: string, priority: number, node = 'a'): PodInfo => podInfoOf(pod(name).uid(name).on(node).priority(priority).build());
const [low, lower, equal] = [at('low', 5), at('lower', 1), at('equal', 10)];
const asked = {
  pod: at('p', 10, ''),
  candidates: [
    { node: 'a', victims: [low], violations: 1 },
    { node: 'b', victims: [at('elsewhere', 1, 'b')], violations: 0 },
  ],
  podsOn: (node: string) => (node === 'a' ? [equal, lower, low] : []),
  now: 0,
};
/** By node: uids of victims. */
const victims = (byNode: Record<string, string>, NumPDBViolations = 0): object => {
  const pods = (uids: string) => (uids === '' ? [] : uids.split(' ').map((UID) => ({ UID })));
  const entries = Object.entries(byNode).map(([node, uids]) => [node, { Pods: pods(uids), NumPDBViolations }]);
  return { NodeNameToMetaVictims: Object.fromEntries(entries) as object };
};

const left: { why: string; answer: object; lenient?: boolean; says: string }[] = [
  { why: 'all', answer: victims({ b: 'elsewhere', a: 'low' }, 2), says: 'a: low (2), b: elsewhere (2)' },
  { why: 'another victim of the node', answer: victims({ a: 'lower' }), says: 'a: lower (0)' },
  { why: 'more victims, in the order of importance', answer: victims({ a: 'lower low' }), says: 'a: low lower (0)' },
  { why: 'those with victims, if ignorable', answer: victims({ a: '', b: 'elsewhere' }), lenient: true, says: 'b: elsewhere (0)' },
];
for (const { why, answer, lenient = false, says } of left)
  test(`of the candidates an extender leaves ${why}`, () => {
    const found = candidatesLeft(asked, decodePreempt(answer), lenient);
    const words = found.map(({ node, victims, violations }) => `${node}: ${victims.map(({ name }) => name).join(' ')} (${violations})`);
    assert.equal(words.join(', '), says);
  });

const notThere = (uid: string) => `NodeNameToMetaVictims["a"] has pod (UID: ${uid}), which is not on that node`;
const notLess = 'NodeNameToMetaVictims["a"] has pod (UID: equal), whose priority is not lower than that of the preempting pod';
for (const { answer, says } of [
  { answer: victims({ z: 'low' }), says: 'NodeNameToMetaVictims has node "z", which was not in the request' },
  { answer: victims({ a: '' }), says: 'expected at least one victim pod on node "a"' },
  { answer: victims({ a: 'nobody' }), says: notThere('nobody') },
  { answer: victims({ a: 'elsewhere' }), says: notThere('elsewhere') },
  { answer: victims({ a: 'equal' }), says: notLess },
])
  test(`victims are refused: ${says}`, () =>
    assert.throws(() => candidatesLeft(asked, decodePreempt(answer), false), { name: 'AnswerError', message: says }));

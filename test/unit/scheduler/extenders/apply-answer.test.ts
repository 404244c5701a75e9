import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFilter, decodePreempt } from '../../../../scheduler/extenders/protocol.ts';
import { addScores, candidatesLeft, survivorsOf } from '../../../../scheduler/extenders/apply-answer.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';

/** Asked about a, b and c. `refused`: NODE for one where preemption may help, NODE! for one where it cannot, and the reason. */
const filtered = (why: string, answer: object, survivors: string, refused: Record<string, string>, { namesOnly = true } = {}) => ({
  why,
  answer,
  survivors,
  refused,
  namesOnly,
});
const filters = [
  filtered('keeps those that it names', { NodeNames: ['c', 'a'], FailedNodes: { b: 'full' } }, 'a c', { b: 'full' }),
  filtered('keeps none without a list', {}, '', { 'a!': 'nothing', 'b!': 'nothing', 'c!': 'nothing' }),
  filtered('keeps none with an empty list', { NodeNames: [], FailedNodes: { a: 'x', b: 'x', c: 'x' } }, '', { a: 'x', b: 'x', c: 'x' }),
  filtered(
    'takes objects from who could have sent names',
    { Nodes: { items: [{ metadata: { name: 'b' } }] }, FailedNodes: { a: 'x', c: 'x' } },
    'b',
    { a: 'x', c: 'x' },
  ),
  filtered(
    'takes names before objects from who was sent names',
    { Nodes: { items: [{ metadata: { name: 'b' } }] }, NodeNames: ['a', 'c'] },
    'a c',
    { 'b!': 'nothing' },
  ),
  filtered(
    'takes no names from who was sent objects',
    { NodeNames: ['a'] },
    '',
    { 'a!': 'nothing', 'b!': 'nothing', 'c!': 'nothing' },
    { namesOnly: false },
  ),
  filtered(
    'takes objects from who was sent objects',
    { nodes: { items: [{ metadata: { name: 'a' } }] }, failedNodes: { b: 'x', c: 'y' } },
    'a',
    { b: 'x', c: 'y' },
    { namesOnly: false },
  ),
  filtered(
    'takes what preemption cannot help before what it can',
    { NodeNames: ['a', 'b'], FailedNodes: { c: 'full' }, FailedAndUnresolvableNodes: { c: 'gone' } },
    'a b',
    { 'c!': 'gone' },
  ),
  filtered(
    'takes an empty reason as none, and its node as one that preemption may help',
    { NodeNames: ['a', 'b'], FailedNodes: { c: '' } },
    'a b',
    { c: 'nothing' },
  ),
  filtered('keeps one that is named on both sides', { NodeNames: ['a', 'b', 'c'], FailedNodes: { a: 'x' } }, 'a b c', {}),
  filtered('forgets failures of nodes that were not asked about', { NodeNames: ['a', 'b', 'c'], FailedNodes: { z: 'x' } }, 'a b c', {}),
  filtered('counts a node that is named twice once', { NodeNames: ['a', 'a', 'b', 'c'] }, 'a b c', {}),
];

for (const { why, answer, namesOnly, survivors, refused } of filters)
  test(`a filter ${why}`, () => {
    const verdict = survivorsOf(['a', 'b', 'c'], decodeFilter(answer), namesOnly);
    assert.equal(verdict.survivors.join(' '), survivors);
    const found = [...verdict.refused].map(([name, { resolvable, reasons }]) => [
      resolvable ? name : `${name}!`,
      reasons.length > 1 ? reasons : (reasons[0] ?? 'nothing'),
    ]);
    assert.deepEqual(Object.fromEntries(found), refused);
  });

for (const { namesOnly, answer, says } of [
  { namesOnly: true, answer: { NodeNames: ['z'] }, says: 'NodeNames has node "z", which was not in the request' },
  {
    namesOnly: false,
    answer: { Nodes: { items: [{ metadata: { name: 'z' } }] } },
    says: 'Nodes has node "z", which was not in the request',
  },
])
  test(`a filter is refused: ${says}`, () =>
    assert.throws(() => survivorsOf(['a'], decodeFilter(answer), namesOnly), { name: 'AnswerError', message: says }));

test('scores add up, for nodes that were asked about', () => {
  const scores = new Map([['a', 5]]);
  const given = [
    { host: 'a', score: 3 },
    { host: 'b', score: 1 },
    { host: 'b', score: 1 },
    { host: 'z', score: 9 },
  ];
  addScores(scores, new Set(['a', 'b', 'c']), given, 20);
  assert.deepEqual(Object.fromEntries(scores), { a: 65, b: 40 });
});

const at = (name: string, priority: number, node = 'a'): PodInfo => podInfoOf(pod(name).uid(name).on(node).priority(priority).build());
const [low, lower, equal] = [at('low', 5), at('lower', 1), at('equal', 10)];
const elsewhere = at('elsewhere', 1, 'b');
const asked = {
  pod: at('p', 10, ''),
  candidates: [
    { node: 'a', victims: [low], violations: 1 },
    { node: 'b', victims: [elsewhere], violations: 0 },
  ],
  podsOn: (node: string) => (node === 'a' ? [equal, lower, low] : []),
  now: 0,
};
const victims = (byNode: Record<string, string>, violations = 0): object => ({
  NodeNameToMetaVictims: Object.fromEntries(
    Object.entries(byNode).map(([node, uids]) => [
      node,
      { Pods: uids === '' ? [] : uids.split(' ').map((UID) => ({ UID })), NumPDBViolations: violations },
    ]),
  ),
});

const left: { why: string; answer: object; lenient?: boolean; says: string[] }[] = [
  { why: 'all', answer: victims({ b: 'elsewhere', a: 'low' }, 2), says: ['a: low (2)', 'b: elsewhere (2)'] },
  { why: 'one', answer: victims({ b: 'elsewhere' }), says: ['b: elsewhere (0)'] },
  { why: 'none', answer: {}, says: [] },
  { why: 'another victim of the node', answer: victims({ a: 'lower' }), says: ['a: lower (0)'] },
  { why: 'more victims, in the order of importance', answer: victims({ a: 'lower low' }), says: ['a: low lower (0)'] },
  { why: 'a victim once', answer: victims({ a: 'low low' }), says: ['a: low (0)'] },
  {
    why: 'those with victims, where it is not depended on',
    answer: victims({ a: '', b: 'elsewhere' }),
    lenient: true,
    says: ['b: elsewhere (0)'],
  },
];

for (const { why, answer, lenient = false, says } of left)
  test(`of the candidates an extender leaves ${why}`, () => {
    const found = candidatesLeft(asked, decodePreempt(answer), lenient);
    assert.deepEqual(
      found.map(({ node, victims, violations }) => `${node}: ${victims.map(({ name }) => name).join(' ')} (${violations})`),
      says,
    );
  });

for (const { answer, says } of [
  { answer: victims({ z: 'low' }), says: 'NodeNameToMetaVictims has node "z", which was not in the request' },
  { answer: victims({ a: '' }), says: 'expected at least one victim pod on node "a"' },
  { answer: victims({ a: 'nobody' }), says: 'NodeNameToMetaVictims["a"] has pod (UID: nobody), which is not on that node' },
  { answer: victims({ a: 'elsewhere' }), says: 'NodeNameToMetaVictims["a"] has pod (UID: elsewhere), which is not on that node' },
  {
    answer: victims({ a: 'equal' }),
    says: 'NodeNameToMetaVictims["a"] has pod (UID: equal), whose priority is not lower than that of the preempting pod',
  },
])
  test(`victims are refused: ${says}`, () =>
    assert.throws(() => candidatesLeft(asked, decodePreempt(answer), false), { name: 'AnswerError', message: says }));

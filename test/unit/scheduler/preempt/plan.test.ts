import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { noCandidatesText, preemptionText } from '../../../../scheduler/preempt/post-filter.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Budget } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';
import { budget, toyFacts, ToyNode, NOW } from './toy-nodes.ts';

const app = (label: string): object => ({ matchLabels: { app: label } });

/** On one node of 4 cpus, by default for a pod of priority 10 that wants 2. Victims as the plan orders them; `broken`: budgets that break. */
const row = (
  why: string,
  pods: string,
  victims: string,
  more: { incoming?: string; nominated?: number; budgets?: readonly Budget[]; broken?: number; refused?: string } = {},
) => ({ why, pods, victims, ...more });
const byApp = (operator: string) => ({ matchExpressions: [{ key: 'app', operator }] });
const [none, one, ofLabelled] = [budget('x', 0, app('x')), budget('x', 1, app('x')), budget('all', 1, byApp('Exists'))];
const withoutStatus: Budget = { metadata: { namespace: 'default' }, spec: { selector: app('x') } };
const fourOfX = 'a 5 1 #x, b 4 1 #x, c 3 1 #x, d 2 1 #x';
const oneNode = [
  row('takes the only one that is less important', 'a 0 3', 'a'),
  row('leaves who is as important', 'a 10 4', '', { refused: 'No preemption victims found for incoming pod' }),
  row('leaves who is more important', 'a 11 4', '', { refused: 'No preemption victims found for incoming pod' }),
  row('gives up where all of the lesser are not enough', 'a 10 3, b 0 1', '', { refused: 'Insufficient cpu' }),
  row('spares the more important', 'a 5 2, b 1 2', 'b'),
  row('spares a less important one where the more important has to go anyway', 'a 5 3, b 1 1', 'a', { incoming: 'p 10 3' }),
  row('spares who started earlier', 'new 1 2 +20, old 1 2 +10', 'new'),
  row('spares who has started before who has not', 'waits 1 2, runs 1 2 +10', 'waits'),
  row('orders victims by importance', 'a 1 1 +1, b 3 1, c 1 1 +2, d 2 1', 'b d a c', { incoming: 'p 10 4' }),
  row('among equals goes by name', 'a 1 2, b 1 2', 'b'),
  row('takes what is nominated to others into account', 'a 5 1, b 1 2', 'b', { nominated: 1 }),
  row('cannot have what is nominated to others', 'a 5 1', '', { nominated: 3, refused: 'Insufficient cpu' }),
  row('takes no one who stands in no way', 'a 1 0, b 2 3', 'b'),
  row('takes negative priorities', 'a -2 4', 'a', { incoming: 'p -1 2' }),

  // Budgets
  row('spares who is protected, also before the more important', 'a 5 2, b 1 2 #x', 'a', { budgets: [none] }),
  row('breaks a budget where nothing else helps', 'a 1 4 #x', 'a', { budgets: [none], broken: 1 }),
  row('may use what a budget allows', 'a 5 2, b 1 2 #x', 'b', { budgets: [one] }),
  row('uses a budget up with the most important first', 'a 5 2 #x, b 1 2 #x', 'a', { budgets: [one] }),
  row('counts only the broken ones that are not spared', fourOfX, 'b c d', { incoming: 'p 10 3', budgets: [none], broken: 3 }),
  row('heeds every budget of a pod', 'a 5 2, b 1 2 #x', 'a', { budgets: [one, budget('y', 0, app('x'))] }),
  row('orders victims by importance, protected or not', 'a 5 2, b 1 2 #x', 'a b', { incoming: 'p 10 4', budgets: [none], broken: 1 }),
  row('uses up all budgets of a pod also when one breaks', 'a 5 2 #x, b 1 2 #z', 'b', { budgets: [none, ofLabelled], broken: 1 }),
  row('heeds no budget of another namespace', 'a 5 2, b 1 2 #x', 'b', { budgets: [budget('x', 0, app('x'), { namespace: 'other' })] }),
  row('heeds no budget that selects others', 'a 5 2, b 1 2 #x', 'b', { budgets: [budget('y', 0, app('y'))] }),
  row('heeds no budget with an empty selector', 'a 5 2, b 1 2 #x', 'b', { budgets: [budget('x', 0, {})] }),
  row('heeds no budget without a selector', 'a 5 2, b 1 2 #x', 'b', { budgets: [budget('x', 0, undefined)] }),
  row('heeds no budget whose selector cannot be read', 'a 5 2, b 1 2 #x', 'b', { budgets: [budget('x', 0, byApp('Near'))] }),
  row('counts nobody twice whom the server has counted', 'a 5 2, b 1 2 #x', 'b', {
    budgets: [budget('x', 0, app('x'), { counted: ['b'] })],
  }),
  row('has no budget for a pod without labels', 'a 5 2 #x, b 1 2', 'b', { budgets: [budget('x', 0, byApp('DoesNotExist'))] }),
  row('takes a budget without status as used up', 'a 5 2, b 1 2 #x', 'a', { budgets: [withoutStatus] }),
];

for (const { why, incoming = 'p 10 2', pods, nominated = 0, budgets = [], victims, broken = 0, refused } of oneNode)
  test(`a plan ${why}`, () => {
    const plan = planPreemption(toyFacts({ incoming, nodes: { n: pods }, nominated: { n: nominated }, budgets }));
    assert.deepEqual(
      plan.candidates.map((candidate) => [candidate.node, candidate.victims.map(({ name }) => name).join(' '), candidate.violations]),
      victims === '' ? [] : [['n', victims, broken]],
    );
    assert.deepEqual([...plan.refused], refused === undefined ? [] : [[refused, 1]]);
  });

/** Nodes hold one pod each: `1` a lesser one, `x` one that a budget protects, `=` an equal one. */
const manyNodes: {
  why: string;
  nodes: string;
  offset?: number;
  percentage?: number;
  absolute?: number;
  tried: string;
  found: string;
  none?: number;
}[] = [
  { why: 'tries all of a few', nodes: '1111', tried: '0123', found: '0123' },
  { why: 'begins at the offset and goes round', nodes: '1111', offset: 2, tried: '2301', found: '2301' },
  { why: 'stops at the wanted number', nodes: '11111', absolute: 2, tried: '01', found: '01' },
  { why: 'stops at the wanted share', nodes: '1111111111', percentage: 30, absolute: 1, tried: '012', found: '012' },
  { why: 'rounds the share down', nodes: '11111', percentage: 39, absolute: 1, tried: '0', found: '0' },
  { why: 'wants what is more of both', nodes: '1111111111', percentage: 20, absolute: 3, tried: '012', found: '012' },
  { why: 'goes on until one breaks no budget', nodes: 'xxx1111', absolute: 2, tried: '0123', found: '0123' },
  { why: 'comes to an end where all break budgets', nodes: 'xxx', absolute: 1, tried: '012', found: '012' },
  { why: 'skips equals without a trial', nodes: '=1=1', absolute: 2, tried: '13', found: '13', none: 2 },
  { why: 'says of nodes beyond the wanted ones nothing', nodes: '1==', absolute: 1, tried: '0', found: '0', none: 0 },
  { why: 'says why of each that is none', nodes: '===', tried: '', found: '', none: 3 },
  { why: 'says nothing of no nodes', nodes: '', tried: '', found: '' },
];

for (const { why, nodes, offset = 0, percentage = 0, absolute = 100, tried, found, none = 0 } of manyNodes)
  test(`a plan for many nodes ${why}`, () => {
    const kinds: Record<string, string> = { '1': 'a 0 4', x: 'a 0 4 #x', '=': 'a 10 4' };
    const trials: string[] = [];
    const plan = planPreemption(
      toyFacts({
        incoming: 'p 10 2',
        nodes: Object.fromEntries(nodes.split('').map((kind, index) => [`n${index}`, kinds[kind] ?? ''])),
        budgets: [budget('x', 0, app('x'))],
        limits: { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute },
        offset,
        onTry: (node) => trials.push(node.slice(1)),
      }),
    );
    assert.equal(trials.join(''), tried);
    assert.equal(plan.candidates.map(({ node }) => node.slice(1)).join(''), found);
    assert.deepEqual([...plan.refused], none === 0 ? [] : [['No preemption victims found for incoming pod', none]]);
  });

test('an empty node is skipped', () => {
  const { candidates, refused } = planPreemption(
    toyFacts({ incoming: 'p 10 9', nodes: { n: '' }, onTry: () => assert.fail('it was tried') }),
  );
  assert.deepEqual([candidates, [...refused]], [[], [['No preemption victims found for incoming pod', 1]]]);
});

test('each reason of a node counts', () => {
  const incoming = podInfoOf(pod('p').priority(10).cpu('9').build());
  const facts = toyFacts({ incoming: 'p 10 9', nodes: { a: 'x 0 1', b: 'y 0 1' } });
  const candidates = facts.candidates.map(({ node, lowest }) => ({
    node,
    lowest,
    tryOut: () => {
      const toy = new ToyNode(node, 4, [podInfoOf(pod('x').priority(0).build())], incoming);
      toy.reasons = () => (node === 'a' ? ['Insufficient cpu', 'Insufficient memory'] : ['Insufficient cpu']);
      return toy;
    },
  }));
  const plan = planPreemption({ ...facts, candidates, now: NOW });
  assert.deepEqual(Object.fromEntries(plan.refused), { 'Insufficient cpu': 2, 'Insufficient memory': 1 });
});

test('whatever the order of pods and whatever the beginning, the same pods go from a node', () => {
  const lists = ['a 1 1, b 1 1, c 2 1 +5, d 2 1 +4', 'd 2 1 +4, c 2 1 +5, b 1 1, a 1 1', 'b 1 1, d 2 1 +4, a 1 1, c 2 1 +5'];
  const victims = lists.map((n) =>
    planPreemption(toyFacts({ incoming: 'p 9 3', nodes: { n } })).candidates.map((one) => one.victims.map(({ name }) => name).join(' ')),
  );
  assert.deepEqual(victims, [['c a b'], ['c a b'], ['c a b']]);
});

const NO_VICTIMS = 'No preemption victims found for incoming pod';
const texts: { why: string; nodes: number; refused: Record<string, number>; tried: number; says: string }[] = [
  {
    why: 'nodes that cannot be helped, and nodes without victims',
    nodes: 3,
    tried: 2,
    refused: { [NO_VICTIMS]: 2 },
    says: `0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 ${NO_VICTIMS}.`,
  },
  {
    why: 'reasons sorted as strings',
    nodes: 12,
    tried: 12,
    refused: { [NO_VICTIMS]: 2, 'Insufficient cpu': 10 },
    says: `0/12 nodes are available: 10 Insufficient cpu, 2 ${NO_VICTIMS}.`,
  },
  { why: 'none to try', nodes: 3, tried: 0, refused: {}, says: '0/3 nodes are available: 3 Preemption is not helpful for scheduling.' },
];
for (const { why, nodes, refused, tried, says } of texts)
  test(`users read of ${why}`, () => {
    const candidates = Array.from({ length: tried }, (_, n) => ({ node: `n${n}`, lowest: 0, tryOut: () => assert.fail() }));
    const found = noCandidatesText({ nodes, candidates }, { candidates: [], refused: new Map(Object.entries(refused)) });
    assert.equal(found, `preemption: ${says}`);
  });

test('a pod that may not preempt, in words', () => {
  assert.equal(preemptionText('not eligible due to preemptionPolicy=Never.'), 'preemption: not eligible due to preemptionPolicy=Never.');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Budget } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';
import { budget, toyFacts, ToyNode, NOW } from './toy-nodes.ts';

const app = (label: string): object => ({ matchLabels: { app: label } });

/** On one node of 4 cpus, by default for a pod of priority 10 that wants 2. Victims as the plan orders them; `broken`: budgets that break. */
const oneNode: {
  why: string;
  incoming?: string;
  pods: string;
  nominated?: number;
  budgets?: readonly Budget[];
  victims: string;
  broken?: number;
  refused?: string;
}[] = [
  { why: 'takes the only one that is less important', pods: 'a 0 3', victims: 'a' },
  { why: 'leaves who is as important', pods: 'a 10 4', victims: '', refused: 'No preemption victims found for incoming pod' },
  { why: 'leaves who is more important', pods: 'a 11 4', victims: '', refused: 'No preemption victims found for incoming pod' },
  { why: 'gives up where all of the lesser are not enough', pods: 'a 10 3, b 0 1', victims: '', refused: 'Insufficient cpu' },
  { why: 'spares the more important', pods: 'a 5 2, b 1 2', victims: 'b' },
  { why: 'spares a less important one where the more important has to go anyway', incoming: 'p 10 3', pods: 'a 5 3, b 1 1', victims: 'a' },
  { why: 'spares who started earlier', pods: 'new 1 2 +20, old 1 2 +10', victims: 'new' },
  { why: 'spares who has started before who has not', pods: 'waits 1 2, runs 1 2 +10', victims: 'waits' },
  { why: 'orders victims by importance', incoming: 'p 10 4', pods: 'a 1 1 +1, b 3 1, c 1 1 +2, d 2 1', victims: 'b d a c' },
  { why: 'among equals goes by name', pods: 'a 1 2, b 1 2', victims: 'b' },
  { why: 'takes what is nominated to others into account', nominated: 1, pods: 'a 5 1, b 1 2', victims: 'b' },
  { why: 'cannot have what is nominated to others', nominated: 3, pods: 'a 5 1', victims: '', refused: 'Insufficient cpu' },
  { why: 'takes no one who stands in no way', pods: 'a 1 0, b 2 3', victims: 'b' },
  { why: 'takes negative priorities', incoming: 'p -1 2', pods: 'a -2 4', victims: 'a' },

  // Budgets
  {
    why: 'spares who is protected, also before the more important',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 0, app('x'))],
    victims: 'a',
  },
  { why: 'breaks a budget where nothing else helps', pods: 'a 1 4 #x', budgets: [budget('x', 0, app('x'))], victims: 'a', broken: 1 },
  { why: 'may use what a budget allows', pods: 'a 5 2, b 1 2 #x', budgets: [budget('x', 1, app('x'))], victims: 'b' },
  {
    why: 'uses a budget up with the most important first',
    incoming: 'p 10 2',
    pods: 'a 5 2 #x, b 1 2 #x',
    budgets: [budget('x', 1, app('x'))],
    victims: 'a', // counted first, so that b is the one over the budget, and comes back first
  },
  {
    why: 'counts only the broken ones that are not spared',
    incoming: 'p 10 3',
    pods: 'a 5 1 #x, b 4 1 #x, c 3 1 #x, d 2 1 #x',
    budgets: [budget('x', 0, app('x'))],
    victims: 'b c d',
    broken: 3,
  },
  {
    why: 'heeds every budget of a pod',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 1, app('x')), budget('y', 0, app('x'))],
    victims: 'a',
  },
  {
    why: 'orders victims by importance, protected or not',
    incoming: 'p 10 4',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 0, app('x'))],
    victims: 'a b',
    broken: 1,
  },
  {
    why: 'uses up all budgets of a pod also when one breaks',
    pods: 'a 5 2 #x, b 1 2 #z',
    budgets: [budget('x', 0, app('x')), budget('all', 1, { matchExpressions: [{ key: 'app', operator: 'Exists' }] })],
    victims: 'b',
    broken: 1,
  },
  {
    why: 'heeds no budget of another namespace',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 0, app('x'), { namespace: 'other' })],
    victims: 'b',
  },
  { why: 'heeds no budget that selects others', pods: 'a 5 2, b 1 2 #x', budgets: [budget('y', 0, app('y'))], victims: 'b' },
  { why: 'heeds no budget with an empty selector', pods: 'a 5 2, b 1 2 #x', budgets: [budget('x', 0, {})], victims: 'b' },
  { why: 'heeds no budget without a selector', pods: 'a 5 2, b 1 2 #x', budgets: [budget('x', 0, undefined)], victims: 'b' },
  {
    why: 'heeds no budget whose selector cannot be read',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 0, { matchExpressions: [{ key: 'app', operator: 'Near' }] })],
    victims: 'b',
  },
  {
    why: 'counts nobody twice whom the server has counted',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [budget('x', 0, app('x'), { counted: ['b'] })],
    victims: 'b',
  },
  {
    why: 'has no budget for a pod without labels',
    pods: 'a 5 2 #x, b 1 2',
    budgets: [budget('x', 0, { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] })],
    victims: 'b',
  },
  {
    why: 'takes a budget without status as used up',
    pods: 'a 5 2, b 1 2 #x',
    budgets: [{ metadata: { namespace: 'default' }, spec: { selector: app('x') } }],
    victims: 'a',
  },
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

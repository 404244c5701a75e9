import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { noCandidatesText, preemptionText } from '../../../../scheduler/preempt/post-filter.ts';
import { toyFacts } from './toy-nodes.ts';

const cases: { why: string; nodes: number; refused: Record<string, number>; tried: number; says: string }[] = [
  {
    why: 'nodes that cannot be helped, and nodes without victims',
    nodes: 3,
    tried: 2,
    refused: { 'No preemption victims found for incoming pod': 2 },
    says: 'preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.',
  },
  {
    why: 'reasons sorted as strings',
    nodes: 12,
    tried: 12,
    refused: { 'No preemption victims found for incoming pod': 2, 'Insufficient cpu': 10 },
    says: 'preemption: 0/12 nodes are available: 10 Insufficient cpu, 2 No preemption victims found for incoming pod.',
  },
  {
    why: 'none to try',
    nodes: 3,
    tried: 0,
    refused: {},
    says: 'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  },
];

for (const { why, nodes, refused, tried, says } of cases)
  test(`users read of ${why}`, () => {
    const candidates = Array.from({ length: tried }, (_, n) => ({ node: `n${n}`, lowest: 0, tryOut: () => assert.fail() }));
    assert.equal(noCandidatesText({ nodes, candidates }, { candidates: [], refused: new Map(Object.entries(refused)) }), says);
  });

test('a plan that finds nothing, in words', () => {
  const facts = { ...toyFacts({ incoming: 'p 10 4', nodes: { a: 'x 10 4', b: 'y 10 1, z 0 1' } }), nodes: 3 };
  assert.equal(
    noCandidatesText(facts, planPreemption(facts)),
    'preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
  );
});

test('a pod that may not preempt, in words', () => {
  assert.equal(preemptionText('not eligible due to preemptionPolicy=Never.'), 'preemption: not eligible due to preemptionPolicy=Never.');
});

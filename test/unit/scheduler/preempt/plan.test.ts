import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { PreemptionFacts } from '../../../../scheduler/preempt/candidates.ts';
import { planPreemption } from '../../../../scheduler/preempt/plan.ts';
import { pod } from '../builders.ts';
import { budget } from './budget.ts';

/* Who has to go from a node is told in oracle/preempt.test.ts, of the product as well; how many nodes are tried is told here. */

/** Nodes hold one pod each: `1` a lesser one, `x` one that a budget protects, `=` an equal one; any of them is enough. */
const cases: { why: string; nodes: string; offset?: number; percentage?: number; absolute?: number; tried: string; none?: number }[] = [
  { why: 'begins at the offset and goes round', nodes: '1111', offset: 2, tried: '2301' },
  { why: 'stops at the wanted share', nodes: '1111111111', percentage: 39, absolute: 1, tried: '012' },
  { why: 'wants what is more of both', nodes: '1111111111', percentage: 20, absolute: 3, tried: '012' },
  { why: 'goes on until one breaks no budget', nodes: 'xxx1111', absolute: 2, tried: '0123' },
  { why: 'comes to an end where all break budgets', nodes: 'xxx', absolute: 1, tried: '012' },
  { why: 'skips equals without a trial', nodes: '=1=1', absolute: 2, tried: '13', none: 2 },
];
for (const { why, nodes, offset = 0, percentage = 0, absolute = 100, tried, none = 0 } of cases)
  test(`a plan for many nodes ${why}`, () => {
    const trials: string[] = [];
    const candidates = nodes.split('').map((kind, at): PreemptionFacts['candidates'][number] => {
      const there = podInfoOf(pod(`p${at}`).priority(kind === '=' ? 10 : 0).labels({ app: kind }).build()); // prettier-ignore
      const pods = new Set([there]);
      return { node: `${at}`,
        lowest: there.priority,
        tryOut: () => {
          trials.push(`${at}`);
          const fits = () => pods.size === 0;
          return { node: `${at}`, pods: [there], remove: (one) => void pods.delete(one), add: (one) => void pods.add(one), fits, reasons: () => ['full'] };
        },
      };
    }); // prettier-ignore
    const limits = { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute };
    const budgets = [budget('x', 0, { matchLabels: { app: 'x' } })];
    const now = '2026-01-01T18:00:00.000Z';
    const wants = podInfoOf(pod('p').priority(10).build());
    const plan = planPreemption({ pod: wants, nodes: nodes.length, candidates, budgets, offset, limits, now });
    assert.deepEqual([trials.join(''), plan.candidates.map(({ node }) => node).join('')], [tried, tried]);
    assert.deepEqual([...plan.refused], none === 0 ? [] : [['No preemption victims found for incoming pod', none]]);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { pickOneNode, whyNotEligible } from '../../../../scheduler/preempt/candidates.ts';
import { type PodInfo, podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';
import { NOW, toyPods } from './toy-nodes.ts';

const waits = 'not eligible due to a terminating pod on the nominated node.';
const preempted: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

function other(
  priority: number,
  { going = true, condition = preempted }: { going?: boolean; condition?: PodCondition | null } = {},
): PodInfo {
  const built = pod('other').on('n').priority(priority);
  if (going) built.terminating();
  const made = built.build();
  return podInfoOf({ ...made, status: { ...made.status, ...(condition === null ? {} : { conditions: [condition] }) } });
}

const never = 'not eligible due to preemptionPolicy=Never.';
const on = (resolvable: boolean, ...pods: PodInfo[]) => ({ resolvable, pods });
const row = (why: string, says: string | undefined, nominated?: { resolvable: boolean; pods: PodInfo[] }, policy?: string) => ({
  why,
  says,
  nominated,
  policy,
});
const cases = [
  row('may preempt', undefined),
  row('may preempt, and says so', undefined, undefined, 'PreemptLowerPriority'),
  row('may not by its own policy', never, undefined, 'Never'),
  row('may not by its own policy, whatever comes of its node', never, on(false), 'Never'),
  row('waits for its victim to be gone', waits, on(true, other(9))),
  row('waits for one victim among others', waits, on(true, other(9, { going: false }), other(9))),
  row('may again, once its node is such that no victim helps', undefined, on(false, other(9))),
  row('may again, once nobody leaves its node', undefined, on(true, other(9, { going: false }))),
  row('may again, once its node is gone', undefined, on(true)),
  row('waits for no equal', undefined, on(true, other(10))),
  row('waits for nobody who leaves by himself', undefined, on(true, other(9, { condition: null }))),
  row('waits for nobody who was evicted', undefined, on(true, other(9, { condition: { ...preempted, reason: 'EvictionByEvictionAPI' } }))),
  row('waits for nobody of whom it is no longer so', undefined, on(true, other(9, { condition: { ...preempted, status: 'False' } }))),
];

for (const { why, policy, nominated, says } of cases)
  test(`a pod ${why}`, () => {
    const spec = policy === undefined ? {} : { preemptionPolicy: policy };
    assert.equal(whyNotEligible({ pod: podInfoOf(pod('p').priority(10).spec(spec).build()), nominated }), says);
  });

/** Victims by node, most important first; `!` in front for each budget that breaks. */
const choices: { why: string; nodes: Record<string, string>; picks: string | undefined }[] = [
  { why: 'nothing of nothing', nodes: {}, picks: undefined },
  { why: 'the only one', nodes: { a: '!!v 9 1' }, picks: 'a' },
  { why: 'fewest broken budgets, whatever else', nodes: { a: '!v 0 1', b: 'v 9 1, w 9 1' }, picks: 'b' },
  { why: 'fewer broken budgets where all break some', nodes: { a: '!!v 0 1', b: '!v 9 1, w 9 1' }, picks: 'b' },
  { why: 'the least important of the most important victims', nodes: { a: 'v 5 1', b: 'v 4 1, w 4 1, x 4 1' }, picks: 'b' },
  { why: 'the smallest sum of priorities', nodes: { a: 'v 5 1, w 4 1', b: 'v 5 1, w 3 1' }, picks: 'b' },
  { why: 'one victim before two, the second being of negative priority', nodes: { a: 'v 5 1, w -100 1', b: 'v 5 1' }, picks: 'b' },
  { why: 'one victim before two, also of the lowest priority but one', nodes: { a: 'v -1 1, w -2147483647 1', b: 'v -1 1' }, picks: 'b' },
  { why: 'fewest victims, where the lowest priority adds nothing', nodes: { a: 'v 5 1, w -2147483648 1', b: 'v 5 1' }, picks: 'b' },
  { why: 'the sum to the last digit', nodes: { a: 'v 2000001000 1, w 2000000999 1', b: 'v 2000001000 1, w 2000000998 1' }, picks: 'b' },
  { why: 'who started last', nodes: { a: 'v 5 1 +10', b: 'v 5 1 +20', c: 'v 5 1 +15' }, picks: 'b' },
  { why: 'by the most important that started first', nodes: { a: 'v 5 1 +10, w 5 1 +60', b: 'v 5 1 +20, w 5 1 +30' }, picks: 'b' },
  { why: 'not by the age of the less important', nodes: { a: 'v 5 1 +20, w 4 1 +1', b: 'v 5 1 +10, w 4 1 +30' }, picks: 'a' },
  { why: 'who has not started before who has', nodes: { a: 'v 5 1 +10', b: 'v 5 1' }, picks: 'b' },
  { why: 'the first of equals', nodes: { b: 'v 5 1 +10', a: 'v 5 1 +10' }, picks: 'b' },
  { why: 'among those left by an earlier rule alone', nodes: { a: '!v 5 1 +90', b: 'v 5 1 +10', c: 'v 5 1 +20' }, picks: 'c' },
  { why: 'by the highest priority wherever it stands', nodes: { a: 'v 1 1, w 9 1', b: 'v 2 1, w 8 1' }, picks: 'b' },
];

for (const { why, nodes, picks } of choices)
  test(`of the candidates, ${why}`, () => {
    const candidates = Object.entries(nodes).map(([node, text]) => ({
      node,
      victims: toyPods(text.replaceAll('!', ''), node),
      violations: text.split('!').length - 1,
    }));
    assert.equal(pickOneNode(candidates, NOW)?.node, picks);
  });

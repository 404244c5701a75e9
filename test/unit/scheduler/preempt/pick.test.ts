import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickOneNode } from '../../../../scheduler/preempt/candidates.ts';
import { NOW, toyPods } from './toy-nodes.ts';

/** Victims by node, most important first; `!` in front for each budget that breaks. */
const choices: { why: string; nodes: Record<string, string>; picks: string | undefined }[] = [
  { why: 'nothing of nothing', nodes: {}, picks: undefined },
  { why: 'the only one', nodes: { a: '!!v 9 1' }, picks: 'a' },
  { why: 'fewest broken budgets, whatever else', nodes: { a: '!v 0 1', b: 'v 9 1, w 9 1' }, picks: 'b' },
  { why: 'fewer broken budgets where all break some', nodes: { a: '!!v 0 1', b: '!v 9 1, w 9 1' }, picks: 'b' },
  { why: 'the least important of the most important victims', nodes: { a: 'v 5 1', b: 'v 4 1, w 4 1, x 4 1' }, picks: 'b' },
  { why: 'the smallest sum of priorities', nodes: { a: 'v 5 1, w 4 1', b: 'v 5 1, w 3 1' }, picks: 'b' },
  { why: 'one victim before two, the second being of negative priority', nodes: { a: 'v 5 1, w -100 1', b: 'v 5 1' }, picks: 'b' },
  {
    why: 'one victim before two, also of the lowest priority that there is but one',
    nodes: { a: 'v -1 1, w -2147483647 1', b: 'v -1 1' },
    picks: 'b',
  },
  {
    why: 'fewest victims, where the lowest priority adds nothing to the sum',
    nodes: { a: 'v 5 1, w -2147483648 1', b: 'v 5 1' },
    picks: 'b',
  },
  { why: 'the sum to the last digit', nodes: { a: 'v 2000001000 1, w 2000000999 1', b: 'v 2000001000 1, w 2000000998 1' }, picks: 'b' },
  { why: 'who started last', nodes: { a: 'v 5 1 +10', b: 'v 5 1 +20', c: 'v 5 1 +15' }, picks: 'b' },
  {
    why: 'by the one of the most important that started first',
    nodes: { a: 'v 5 1 +10, w 5 1 +60', b: 'v 5 1 +20, w 5 1 +30' },
    picks: 'b',
  },
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

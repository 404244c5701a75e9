import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity, compareQuantities, quantity, resolveIntOrPercent } from '../../../../kube/api/quantity.ts';

test('quantities are written back in their canonical form; what is none is none', () => {
  const canonical =
    '0>0 0.1>100m 1000m>1 1.5Gi>1536Mi 1024Mi>1Gi 0.5Ki>512 1e3>1e3 1.5e3>1500 1E>1E 12E2>1200 -1Gi>-1Gi +5>5 .5>500m 5.>5 0.0000000001>1n';
  for (const pair of canonical.split(' ')) {
    const [text = '', written] = pair.split('>');
    assert.equal(canonicalQuantity(valid(text)), written, text);
  }
  for (const text of ['', 'abc', '100MB', '1 Gi', '.', '1e', '--1']) assert.equal(quantity(text), undefined, text);
});

const valid = (text: string) => quantity(text) ?? assert.fail(text);

test('quantities compare by value, whatever their suffix', () => {
  const order = ['-1', '0', '1n', '100m', '1', '1k', '1Ki', '1Mi', '1.5G', '1.5Gi', '1E', '1Ei'].map(valid);
  for (const [index, one] of order.entries())
    for (const [other, two] of order.entries()) assert.equal(compareQuantities(one, two), Math.sign(index - other));
  assert.equal(compareQuantities(valid('1Gi'), valid('1024Mi')), 0);
});

const portions: [why: string, value: string | number | undefined, total: number, up?: number, down?: number][] = [
  ['a number is itself, also beyond the total', 30, 10, 30, 30],
  ['a number in text', '3', 10, 3, 3],
  ['a percentage in between', '25%', 10, 3, 2],
  ['a percentage of nothing', '50%', 0, 0, 0],
  ['more than all', '150%', 7, 11, 10],
  ['an even one that binary fractions would miss', '29%', 100, 29, 29],
  ['absent', undefined, 7],
  ['a word', 'all', 7],
  ['a lone sign', '%', 7],
  ['a fraction of a percent', '1.5%', 7],
  ['less than nothing', '-5%', 7],
  ['a negative number', -1, 7],
  ['a fraction', 1.5, 7],
];
for (const [why, value, total, up, down] of portions)
  test(`number or percentage: ${why}`, () => {
    assert.equal(resolveIntOrPercent(value, total, { round: 'up' }), up);
    assert.equal(resolveIntOrPercent(value, total, { round: 'down' }), down);
  });

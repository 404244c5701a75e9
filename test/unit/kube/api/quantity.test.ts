import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity, compareQuantities, quantity, resolveIntOrPercent } from '../../../../kube/api/quantity.ts';

const cases: [text: string, canonical: string | undefined][] = [
  ['0', '0'],
  ['100m', '100m'],
  ['0.1', '100m'],
  ['1000m', '1'],
  ['1.5Gi', '1536Mi'],
  ['1024Mi', '1Gi'],
  ['1023', '1023'],
  ['0.5Ki', '512'],
  ['1e3', '1e3'],
  ['1.5e3', '1500'],
  ['1E', '1E'],
  ['12E2', '1200'],
  ['-1Gi', '-1Gi'],
  ['+5', '5'],
  ['.5', '500m'],
  ['5.', '5'],
  ['0.0000000001', '1n'],
  ['1000k', '1M'],
  ['', undefined],
  ['abc', undefined],
  ['100MB', undefined],
  ['1 Gi', undefined],
  ['1ki', undefined],
  ['.', undefined],
  ['1e', undefined],
  ['--1', undefined],
  ['1K', undefined],
];
for (const [text, canonical] of cases) {
  test(`quantity ${JSON.stringify(text)}`, () => {
    const parsed = quantity(text);
    assert.equal(parsed && canonicalQuantity(parsed), canonical);
  });
}

const valid = (text: string) => quantity(text) ?? assert.fail(text);

test('quantities compare by value, whatever their suffix', () => {
  const order = ['-1', '0', '1n', '100m', '1', '1k', '1Ki', '1Mi', '1.5G', '1.5Gi', '1E', '1Ei'].map(valid);
  for (const [index, one] of order.entries())
    for (const [other, two] of order.entries()) assert.equal(compareQuantities(one, two), Math.sign(index - other));
  assert.equal(compareQuantities(valid('1Gi'), valid('1024Mi')), 0);
});

const portions = [
  { why: 'a number is itself', value: 3, total: 10, up: 3, down: 3 },
  { why: 'a number may exceed the total', value: 30, total: 10, up: 30, down: 30 },
  { why: 'zero', value: 0, total: 10, up: 0, down: 0 },
  { why: 'a number in text', value: '3', total: 10, up: 3, down: 3 },
  { why: 'a percentage that comes out even', value: '20%', total: 10, up: 2, down: 2 },
  { why: 'a percentage in between', value: '25%', total: 10, up: 3, down: 2 },
  { why: 'a percentage of little', value: '1%', total: 1, up: 1, down: 0 },
  { why: 'a percentage of nothing', value: '50%', total: 0, up: 0, down: 0 },
  { why: 'no percent', value: '0%', total: 7, up: 0, down: 0 },
  { why: 'all', value: '100%', total: 7, up: 7, down: 7 },
  { why: 'more than all', value: '150%', total: 7, up: 11, down: 10 },
  { why: 'an even one that binary fractions would miss', value: '29%', total: 100, up: 29, down: 29 },
  { why: 'absent', value: undefined, total: 7, up: undefined, down: undefined },
  { why: 'a word', value: 'all', total: 7, up: undefined, down: undefined },
  { why: 'empty', value: '', total: 7, up: undefined, down: undefined },
  { why: 'a lone sign', value: '%', total: 7, up: undefined, down: undefined },
  { why: 'a fraction of a percent', value: '1.5%', total: 7, up: undefined, down: undefined },
  { why: 'less than nothing', value: '-5%', total: 7, up: undefined, down: undefined },
  { why: 'a negative number', value: -1, total: 7, up: undefined, down: undefined },
  { why: 'a fraction', value: 1.5, total: 7, up: undefined, down: undefined },
  { why: 'something behind it', value: '5% ', total: 7, up: undefined, down: undefined },
];
for (const { why, value, total, up, down } of portions) {
  test(`number or percentage: ${why}`, () => {
    assert.equal(resolveIntOrPercent(value, total, { round: 'up' }), up);
    assert.equal(resolveIntOrPercent(value, total, { round: 'down' }), down);
  });
}

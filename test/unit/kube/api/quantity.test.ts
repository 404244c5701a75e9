import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity, compareQuantities, quantity } from '../../../../kube/api/quantity.ts';

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

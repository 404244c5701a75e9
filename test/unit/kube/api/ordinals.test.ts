import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf, ordinalRangesIn } from '../../../../kube/api/ordinals.ts';

test('a name is a place in a set where it ends in a plain 32-bit number', () => {
  for (const [name, parent, ordinal] of [
    ['web-0', 'web', 0],
    ['web-10', 'web', 10],
    ['web-1-2', 'web-1', 2],
    ['a.b-3', 'a.b', 3],
    ['web-2147483647', 'web', 2147483647],
    ['web--1', 'web-', 1],
  ] as const)
    assert.deepEqual(identityOf(name), { parent, ordinal }, name);
  for (const name of ['web-2147483648', 'web-01', 'web-', 'web', '0', 'web-1e3', '']) assert.equal(identityOf(name), undefined, name);
});

test('a list of ranges: what overlaps is one, ten thousand are the most, words are refused', () => {
  for (const [text, is] of [
    ['1,2-3', '1-1 2-3'],
    ['5-9,1-3,2-6', '1-9'],
    ['0-4999,4000-9999', '0-9999'],
    ['0-9999,10000', undefined],
    ['1,two', undefined],
    ['', ''],
  ] as const)
    assert.equal(ordinalRangesIn(text)?.map(({ from, to }) => `${from}-${to}`).join(' '), is, text); // prettier-ignore
});

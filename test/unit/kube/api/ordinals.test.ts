import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf, ordinalRangesIn } from '../../../../kube/api/ordinals.ts';

const names: { name: string; parent?: string; ordinal?: number }[] = [
  { name: 'web-0', parent: 'web', ordinal: 0 },
  { name: 'web-10', parent: 'web', ordinal: 10 },
  { name: 'web-1-2', parent: 'web-1', ordinal: 2 },
  { name: 'a.b-3', parent: 'a.b', ordinal: 3 },
  { name: 'web-2147483647', parent: 'web', ordinal: 2147483647 },
  { name: 'web--1', parent: 'web-', ordinal: 1 },
  { name: 'web-2147483648' },
  { name: 'web-99999999999999999999' },
  { name: 'web-01' },
  { name: 'web-00' },
  { name: 'web-' },
  { name: 'web' },
  { name: '0' },
  { name: 'web-0x1' },
  { name: 'web-1a' },
  { name: 'web-1e3' },
  { name: 'web-0.5' },
  { name: 'web-Infinity' },
  { name: '' },
];
for (const { name, parent, ordinal } of names)
  test(`the name ${name === '' ? 'that is empty' : name} ${parent === undefined ? 'is no pod’s of a set' : `is ${parent}’s, place ${ordinal}`}`, () =>
    assert.deepEqual(identityOf(name), parent === undefined ? undefined : { parent, ordinal }));

const lists: { why: string; text: string; is: string | undefined }[] = [
  { why: 'keeps apart what only touches', text: '1,2-3', is: '1-1 2-3' },
  { why: 'makes one of what overlaps', text: '5-9,1-3,2-6', is: '1-9' },
  { why: 'takes ten thousand', text: '0-4999,4000-9999', is: '0-9999' },
  { why: 'refuses one more', text: '0-9999,10000', is: undefined },
  { why: 'refuses words', text: '1,two', is: undefined },
  { why: 'takes none', text: '', is: '' },
];
for (const { why, text, is } of lists)
  test(`a list of ranges ${why}`, () => {
    const ranges = ordinalRangesIn(text)?.map(({ from, to }) => `${from}-${to}`);
    assert.equal(ranges?.join(' '), is);
  });

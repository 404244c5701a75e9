import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ordinalsIn } from '../../../../controllers/statefulset/rules.ts';

const cases: { why: string; text: string; is: number[] | undefined }[] = [
  { why: 'takes numbers and ranges', text: '1,3-5', is: [1, 3, 4, 5] },
  { why: 'puts them in order', text: '7,3-5,1', is: [1, 3, 4, 5, 7] },
  { why: 'puts numbers in the order of numbers', text: '10,9', is: [9, 10] },
  { why: 'takes each once', text: '3-5,4,1,4-6,1', is: [1, 3, 4, 5, 6] },
  { why: 'takes a range within another', text: '1-9,3-4,9', is: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
  { why: 'takes a range of one', text: '2-2', is: [2] },
  { why: 'takes the first', text: '0', is: [0] },
  { why: 'takes the last there is', text: '2147483647', is: [2147483647] },
  { why: 'refuses one beyond the last', text: '2147483648', is: undefined },
  { why: 'passes over blanks', text: '1, 3 - 5', is: [1, 3, 4, 5] },
  { why: 'takes none', text: '', is: [] },
  { why: 'refuses a range that runs down', text: '5-3', is: undefined },
  { why: 'refuses words', text: '1,two', is: undefined },
  { why: 'refuses what is below 0', text: '-1', is: undefined },
  { why: 'refuses an open range', text: '3-', is: undefined },
  { why: 'refuses a range of ranges', text: '1-2-3', is: undefined },
  { why: 'refuses a comma too many', text: '1,', is: undefined },
  { why: 'refuses parts', text: '1.5', is: undefined },
  { why: 'refuses other ways to write numbers', text: '0x10', is: undefined },
];
for (const { why, text, is } of cases) test(`a list of ordinals ${why}`, () => assert.deepEqual(ordinalsIn(text), is));

test('a list of ordinals has room for ten thousand', () => {
  assert.equal(ordinalsIn('1-10000')?.length, 10_000);
  assert.equal(ordinalsIn('1-10000,500-600')?.length, 10_000);
  assert.equal(ordinalsIn('0-10000'), undefined);
  assert.equal(ordinalsIn('0-2147483647'), undefined);
});

test('a list of ordinals that says the same thing over and over is read at once', () => {
  const text = Array.from({ length: 20_000 }, () => '0-9999').join(',');
  assert.equal(ordinalsIn(text)?.length, 10_000);
});

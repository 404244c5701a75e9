import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judged, quantile, table, type Figure } from '../../../bench/figure.ts';

const cases = [
  { why: 'the middle of an odd number', values: [3, 1, 2], q: 0.5, is: 2 },
  { why: 'the lower middle of an even number', values: [4, 1, 2, 3], q: 0.5, is: 2 },
  { why: 'the highest of few, for a high share', values: [1, 2, 3], q: 0.99, is: 3 },
  { why: 'the lowest, for no share', values: [2, 1], q: 0, is: 1 },
];
for (const { why, values, q, is } of cases) test(`a quantile is ${why}`, () => assert.equal(quantile(values, q), is));

test('there is no quantile of nothing', () => assert.throws(() => quantile([], 0.5), RangeError));

const memory: Figure = {
  what: 'memory',
  ours: { name: 'agent', unit: 'MB', values: [60, 62, 61] },
  against: { name: 'empty', unit: 'MB', values: [40, 40, 40] },
  reach: { atMost: 1.25 },
};
const rate: Figure = { what: 'rate', ours: { name: 'ours', unit: '/s', values: [5] }, reach: { atLeast: 5 } };

test('a ratio is of the medians, and its aim is judged on it', () => {
  assert.deepEqual(judged(memory), { value: 1.525, met: false });
  assert.deepEqual(judged({ ...memory, reach: { atMost: 1.525 } }), { value: 1.525, met: true });
});

test('without something to hold it against, the value itself is judged', () => {
  assert.deepEqual(judged(rate), { value: 5, met: true });
  assert.equal(judged({ ...rate, reach: { atLeast: 6 } }).met, false);
});

test('the table says plainly what is not reached, with spread and count', () => {
  const [, , first, second] = table([memory, rate]).split('\n');
  const cells = (line: string | undefined): string[] => (line ?? '').split('|').map((cell) => cell.trim()).filter((cell) => cell !== ''); // prettier-ignore
  assert.deepEqual(cells(first), [
    'memory',
    '<= 1.25x',
    '1.52x',
    '**no**',
    '61.0 MB (60.0..62.0, n=3)',
    'empty: 40.0 MB (40.0..40.0, n=3)',
  ]);
  assert.deepEqual(cells(second), ['rate', '>= 5 /s', '5.00 /s', 'yes', '5.00 /s', '-']);
});

test('without an aim it is shown, and neither reached nor missed', () => {
  const { reach: _, ...shown } = memory;
  assert.deepEqual(judged(shown), { value: 1.525 });
  const [, , line = ''] = table([shown]).split('\n');
  assert.match(line, /^\| memory +\| - +\| 1\.52x +\| - +\|/);
});

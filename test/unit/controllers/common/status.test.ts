import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paceStatus, reaches, type StatusNews } from '../../../../controllers/common/status.ts';

const numbers: StatusNews = { change: 'numbers', reached: false, busy: false };
const cases: { why: string; news: StatusNews; after: number; is: 'written' | 'left' | number }[] = [
  { why: 'nothing changes', news: { ...numbers, change: 'nothing', reached: true }, after: 9_999, is: 'left' },
  { why: 'more than numbers changes', news: { ...numbers, change: 'more', busy: true }, after: 0, is: 'written' },
  { why: 'numbers change just after a write', news: numbers, after: 1, is: 99 },
  { why: 'numbers change a while after a write', news: numbers, after: 100, is: 'written' },
  { why: 'numbers change while pods are made', news: { ...numbers, busy: true }, after: 100, is: 400 },
  { why: 'numbers have changed for a while and pods are made', news: { ...numbers, busy: true }, after: 500, is: 'written' },
  { why: 'a number is what it should be', news: { ...numbers, reached: true, busy: true }, after: 0, is: 'written' },
];
for (const { why, news, after, is } of cases)
  test(`when the status is written: ${why}`, () => {
    const memory = { statusHeldMs: (pace: 'idle' | 'busy') => Math.max(0, { idle: 100, busy: 500 }[pace] - after) };
    const { status, wakeUps } = paceStatus({ any: 1 }, news, memory);
    assert.deepEqual(wakeUps[0]?.requeueAfter ?? (status === undefined ? 'left' : 'written'), is);
  });

test('what it is to reach what should be', () => {
  assert.equal(reaches(3, [[2, 3]]), true, 'it is what it should be');
  assert.equal(reaches(3, [[3, 3]]), false, 'it was before');
  assert.equal(reaches(3, [[1, 2]]), false, 'it is not yet');
  assert.equal(reaches(0, [[undefined, 0]]), false, 'none is none, written or not');
  assert.equal(reaches(0, [[4, 0], [1, 2]]), true, 'one of them'); // prettier-ignore
});

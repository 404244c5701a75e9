import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportedFailures } from '../../../../scheduler/core/failure-handler.ts';

/** Refusals: a pod, when it is refused (in seconds) and what for; with ! where that is told. */
const cases = [
  { why: 'the same is told again after half an hour', refused: 'a 0 x!, a 60 x, a 1799 x, a 1800 x!, a 1900 x' },
  { why: 'something else is told after ten seconds', refused: 'a 0 x!, a 9 y, a 10 y!, a 15 x, a 20 x!' },
  { why: 'each pod has its own', refused: 'a 0 x!, b 0 x!, b 1 x' },
];
for (const { why, refused } of cases)
  test(`why a pod waits: ${why}`, () => {
    const told = new ReportedFailures();
    for (const one of refused.split(', ')) {
      const [uid = '', at, message = ''] = one.replace('!', '').split(' ');
      assert.equal(told.isNews(uid, message, Number(at) * 1_000), one.endsWith('!'), one);
    }
  });

test('why a pod waits: one that is not remembered is told anew, whoever was told the longest ago first', () => {
  const told = new ReportedFailures();
  for (let n = 0; n < 20_000; n++) assert.ok(told.isNews(`p${n}`, 'x', 0));
  assert.ok(told.isNews('p0', 'y', 10_000));
  assert.ok(told.isNews('one too many', 'x', 0));
  assert.equal(told.isNews('p0', 'y', 10_000), false);
  assert.equal(told.isNews('p2', 'x', 0), false);
  assert.ok(told.isNews('p1', 'x', 0));
  told.forget('p3');
  assert.ok(told.isNews('p3', 'x', 0));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportedFailures } from '../../../../scheduler/core/failure-handler.ts';

/** Refusals: a pod, when it is refused (in seconds) and what for; with ! where that is told at once, with `+N` where it is in N seconds. */
const cases = [
  { why: 'the same is told again after half an hour', refused: 'a 0 x!, a 60 x, a 1799 x, a 1800 x!, a 1900 x' },
  { why: 'something else is told after ten seconds', refused: 'a 0 x!, a 9 y+1, a 10 y!, a 15 x+5, a 20 x!' },
  { why: 'of what came too soon the newest is told, once', refused: 'a 0 x!, a 3 y+7, a 4 z, a 5 x, a 6 z+4' },
  { why: 'each pod has its own', refused: 'a 0 x!, b 0 x!, b 1 x' },
];
for (const { why, refused } of cases)
  test(`why a pod waits: ${why}`, () => {
    const told = new ReportedFailures();
    for (const one of refused.split(', ')) {
      const [uid = '', at, message = '', wait = one.endsWith('!') ? 0 : undefined] = one.replace('!', '').split(/[ +]/);
      assert.equal(told.waits(uid, message, Number(at) * 1_000), wait && Number(wait) * 1_000, one);
    }
  });

test('why a pod waits: one that is not remembered is told anew, whoever was told the longest ago first', () => {
  const told = new ReportedFailures();
  for (let n = 0; n < 20_000; n++) assert.equal(told.waits(`p${n}`, 'x', 0), 0);
  assert.equal(told.waits('p0', 'y', 10_000), 0);
  assert.equal(told.waits('one too many', 'x', 0), 0);
  assert.equal(told.waits('p0', 'y', 10_000), undefined);
  assert.equal(told.waits('p2', 'x', 0), undefined);
  assert.equal(told.waits('p1', 'x', 0), 0);
  told.forget('p3');
  assert.equal(told.waits('p3', 'x', 0), 0);
});

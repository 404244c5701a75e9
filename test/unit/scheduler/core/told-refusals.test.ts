import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportedFailures } from '../../../../scheduler/core/failure-handler.ts';

/** A pod, when it is refused (in seconds), what for, and whether that is told. */
const cases: { why: string; refused: [uid: string, at: number, message: string, told: boolean][] }[] = [
  {
    why: 'the same is told again after half an hour',
    refused: [
      ['a', 0, 'x', true],
      ['a', 60, 'x', false],
      ['a', 1_799, 'x', false],
      ['a', 1_800, 'x', true],
      ['a', 1_900, 'x', false],
    ],
  },
  {
    why: 'something else is told after ten seconds',
    refused: [
      ['a', 0, 'x', true],
      ['a', 9, 'y', false],
      ['a', 10, 'y', true],
      ['a', 15, 'x', false],
      ['a', 20, 'x', true],
    ],
  },
  {
    why: 'each pod has its own',
    refused: [
      ['a', 0, 'x', true],
      ['b', 0, 'x', true],
      ['b', 1, 'x', false],
    ],
  },
];
for (const { why, refused } of cases)
  test(`why a pod waits: ${why}`, () => {
    const told = new ReportedFailures();
    for (const [uid, at, message, expected] of refused)
      assert.equal(told.isNews(uid, message, at * 1_000), expected, `${uid} ${message} at ${at} s`);
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

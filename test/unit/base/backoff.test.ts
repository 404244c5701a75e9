import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff } from '../../../base/backoff.ts';

test('a wait doubles with each failure up to the longest one, and is at most a fifth longer', () => {
  const wait = (failures: number, random = 0): number => backoff(failures, { base: 10, cap: 50 }, () => random);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 10_000].map((failures) => wait(failures)),
    [10, 10, 20, 40, 50, 50],
  );
  assert.equal(wait(1, 1), 12);
});

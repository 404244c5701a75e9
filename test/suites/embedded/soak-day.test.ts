import assert from 'node:assert/strict';
import { test } from 'node:test';
import { day } from '../../support/soak/day.ts';

test('half an hour of users and faults leaves everything as it should be, and nothing behind', async () => {
  const { problems, sleepers } = await day(0.5, 7);
  assert.deepEqual(problems, []);
  assert.equal(sleepers, 0, 'somebody still waits for time to pass');
});

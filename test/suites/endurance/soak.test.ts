import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { live } from '../../support/soak/live.ts';

test('a minute of users and faults over real sockets leaves everything as it should be, and nothing behind', async (t) => {
  setFlagsFromString('--expose-gc');
  const { problems, left, leaked, changes } = await live(1, 3, runInNewContext('gc') as () => void);
  t.diagnostic(`${changes} changes`);
  assert.deepEqual(problems, []);
  for (const [what, count] of Object.entries(left)) assert.equal(count, 0, what);
  assert.deepEqual(leaked, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { converge } from './convergence.ts';

// Even seeds stream, every third resyncs, half of them go back and the others lag behind.
test('a cache agrees with its server after any trouble', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) assert.deepEqual(await converge({ seed, changes: 4_000 }), [], `seed ${seed}`);
});

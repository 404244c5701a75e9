import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { converge, nothingYet } from './convergence.ts';
import type { Coverage } from './convergence.ts';

describe('a cache agrees with its server after any trouble', () => {
  const together: Coverage = { ...nothingYet };
  // Even ones stream, every third resyncs, half of them go back and the others lag behind.
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    test(`seed ${seed}`, async () => {
      const { problems, coverage } = await converge({ seed, changes: 4_000 });
      assert.deepEqual(problems, []);
      for (const what of Object.keys(nothingYet) as (keyof Coverage)[]) together[what] += coverage[what];
    });
  }

  test('and there was every kind of it', () => {
    for (const [what, count] of Object.entries(together)) assert.ok(count > 2, `${what}: ${count}`);
    assert.ok(together.unseen > together.replaced, 'nothing was gone for good');
  });
});

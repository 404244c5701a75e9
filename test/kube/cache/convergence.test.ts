import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { converge } from './convergence.ts';
import { planted } from './planted.ts';

describe('a cache agrees with its server after any trouble', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`seed ${seed}`, async () => {
      const { problems, events } = await converge({ seed, changes: 1_500 });
      assert.deepEqual(problems, []);
      assert.ok(events > 300, `${events} events are no trouble`);
    });
  }

  // Five runs at most, so that one in which the mistake had no occasion proves nothing.
  for (const [mistake, plant] of Object.entries(planted)) {
    test(`finds ${mistake}`, async () => {
      for (let seed = 1; seed <= 5; seed++) if ((await converge({ seed, changes: 1_500, plant })).problems.length > 0) return;
      assert.fail('five runs found nothing wrong');
    });
  }
});

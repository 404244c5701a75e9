import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from './hand-overs.ts';

// The endurance suite lives thousands of hand-overs.
test('whatever happens to three participants, there are never two writers, and soon one again', async () => {
  for (let seed = 1; seed <= 2; seed++) {
    const { breaches, handOvers, recovered } = await new HandOvers(seed).live(20);
    assert.deepEqual([breaches, handOvers >= 20, recovered], [[], true, true], `seed ${seed}`);
  }
});

test('an election that leads until it is told otherwise is found out', async () => {
  const weaker = { isCertain: () => true };
  for (let seed = 1; seed <= 10; seed++) {
    const { breaches } = await new HandOvers(seed, { weaker, only: 'stop' }).live(10);
    if (breaches.length > 0) return;
  }
  assert.fail('it passed for sound');
});

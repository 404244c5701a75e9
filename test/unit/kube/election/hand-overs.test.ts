import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from './hand-overs.ts';

// The endurance suite lives thousands of hand-overs.
test('whatever happens to three participants, there are never two leaders, and soon one again', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { breaches, handOvers, led } = new HandOvers(seed).live(20);
    assert.deepEqual([breaches, handOvers >= 20, led > 60], [[], true, true], `seed ${seed}`);
  }
});

for (const [why, weaker, only] of [
  ['leads until it is told otherwise', { isCertain: () => true }, 'stop'],
  ['does not wait for the holder to stop', { isOver: () => true }, 'cut off'],
] as const)
  test(`an election that ${why} is found out`, () => {
    for (let seed = 1; seed <= 10; seed++) if (new HandOvers(seed, { weaker, only }).live(10).breaches.length > 0) return;
    assert.fail('it passed for sound');
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from '../../unit/kube/election/hand-overs.ts';

test('50,000 hand-overs in simulated lives', () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const { breaches, handOvers, led } = new HandOvers(seed).live(25);
    assert.deepEqual([breaches, handOvers >= 25, led > 60], [[], true, true], `seed ${seed}`);
  }
});

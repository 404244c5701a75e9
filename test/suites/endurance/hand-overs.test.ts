import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from '../../unit/kube/election/hand-overs.ts';

test('5,000 hand-overs in simulated lives', async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const life = await new HandOvers(seed).live(25);
    assert.deepEqual(life.breaches, [], `seed ${seed}`);
    assert.ok(life.handOvers >= 25 && life.recovered, `seed ${seed}: nobody leads`);
  }
});

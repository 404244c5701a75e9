import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import { RandomWorld } from './random-world.ts';

const LIVES = 300;
const STEPS = 250;

test('no room is kept after its reason is gone, whatever happens', () => {
  const totals: Record<string, number> = {};
  for (let seed = 1; seed <= LIVES; seed++) {
    const world = new RandomWorld(seededRandom(seed));
    const story: string[] = [];
    for (let step = 0; step < STEPS; step++) {
      const { did, problems } = world.step();
      story.push(did);
      if (problems.length > 0) assert.fail(`seed ${seed}: ${problems.join('; ')} after\n  ${story.filter((one) => one !== 'nothing').slice(-25).join('\n  ')}`); // prettier-ignore
    }
    world.settle();
    assert.deepEqual(world.problems(), [], `seed ${seed}, at the end`);
    assert.equal(world.kept.size, 0, `seed ${seed}: something is kept for ever`);
    for (const [what, count] of Object.entries(world.counts)) totals[what] = (totals[what] ?? 0) + count;
  }
  for (const [what, count] of Object.entries(totals)) assert.ok(count > LIVES / 4, `hardly ever ${what}: ${count} times`);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { swept } from '../../support/in-turn.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { rollouts } from '../../unit/scheduler/simulated/rollouts.ts';
import { stories } from '../../unit/scheduler/simulated/stories.ts';
import { faultKinds, sweep, sweepWatches } from '../../unit/scheduler/simulated/sweep.ts';

const COUNT = Number(process.env['DKC_ROLLOUTS'] ?? 1_000);
const FIRST = Number(process.env['DKC_ROLLOUTS_SEED'] ?? 1_000);

test(`${COUNT} random rollouts leave nothing behind: no room, nobody assumed, nobody forgotten`, async (t) => {
  let rooms = 0;
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const { problems, did, rooms: kept } = await rollouts(seed);
    rooms += kept;
    assert.deepEqual(problems, [], `seed ${seed}:\n${did.join('\n')}`);
  }
  t.diagnostic(`room was kept ${rooms} times`);
});

describe('a scheduler whose calls fail, each in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      const { problems, runs } = await sweep(story, () => faultKinds);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing failed');
    });
});

describe('a scheduler whose watches fail at each event in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      const { problems, runs } = await sweepWatches(story, () => watchFaults);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing went wrong');
    });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultKinds, type FaultKind } from '../../../support/simulated/faulty-calls.ts';
import { watchFaults, type WatchFault } from '../../../support/simulated/faulty-watches.ts';
import type { SeenCall } from '../../../support/simulated/intercepted.ts';
import { stories } from './simulated/stories.ts';
import { sweep, sweepWatches } from './simulated/sweep.ts';

/** Every call fails in one way; the next call in the next one, and those of the next story begin elsewhere. All ways for every call: the endurance suite. */
function inTurn(call: SeenCall, n: number): FaultKind[] {
  const possible = faultKinds.filter((kind) => kind.befalls(call));
  return [possible[n % possible.length]].filter((kind) => kind !== undefined);
}
const oneOf = (n: number): WatchFault[] => [watchFaults[n % watchFaults.length]].filter((fault) => fault !== undefined);

describe('whichever call fails, and however, it comes to the same end', () => {
  for (const [begin, story] of stories.entries())
    test(story.why, async () => {
      const { problems, runs } = await sweep(story, (call, n) => inTurn(call, begin * 3 + n));
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing failed');
    });
});

describe('whichever event is missed or late, it comes to the same end', () => {
  const told = new Set(['a set shrinks from three to one', 'an update is taken back']);
  for (const story of stories.filter(({ why }) => told.has(why)))
    test(story.why, async () => {
      const { problems, runs } = await sweepWatches(story, oneOf);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing went wrong');
    });
});

import { describe, test } from 'node:test';
import { faultKinds, type FaultKind } from '../../support/simulated/faulty-calls.ts';
import { watchFaults, type WatchFault } from '../../support/simulated/faulty-watches.ts';
import type { SeenCall } from '../../support/simulated/intercepted.ts';
import { assertSame } from '../../support/simulated/sweeping.ts';
import { subjects } from './simulated/subjects.ts';

/**
 * Every call fails in one way; the next call in the next one, and those of the next story begin elsewhere. All ways for every call: the endurance suite.
 */
function inTurn(call: SeenCall, n: number): FaultKind[] {
  const possible = faultKinds.filter((kind) => kind.befalls(call));
  return [possible[n % possible.length]].filter((kind) => kind !== undefined);
}
const oneOf = (n: number): WatchFault[] => [watchFaults[n % watchFaults.length]].filter((fault) => fault !== undefined);

for (const { kind, stories, alsoLate } of subjects) {
  describe(`whichever call of a ${kind} controller fails, and however, it comes to the same end`, () => {
    for (const [begin, story] of stories.entries())
      test(story.why, async () => assertSame(await story.calls((call, n) => inTurn(call, begin * 3 + n))));
  });

  describe(`whichever event a ${kind} controller misses or sees late, it comes to the same end`, () => {
    for (const story of stories.filter(({ why }) => alsoLate.has(why))) test(story.why, async () => assertSame(await story.events(oneOf)));
  });
}

import { describe, test } from 'node:test';
import { swept } from '../../support/in-turn.ts';
import { assertSame } from '../../support/simulated/sweeping.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { stories } from '../../unit/scheduler/simulated/stories.ts';
import { faultKinds, sweep, sweepWatches } from '../../unit/scheduler/simulated/sweep.ts';

describe('a scheduler whose calls fail, and whose watches fail at each event, in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      for (const end of [await sweep(story, () => faultKinds), await sweepWatches(story, () => watchFaults)]) assertSame(end);
    });
});

import { describe, test } from 'node:test';
import { faultKinds } from '../../support/simulated/faulty-calls.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { subjects } from '../../unit/controllers/simulated/subjects.ts';
import { swept } from '../../support/in-turn.ts';
import { assertSame } from '../../support/simulated/sweeping.ts';

for (const { kind, stories } of subjects)
  describe(`a ${kind} controller whose calls fail, and whose watches fail at each event, in every way`, () => {
    for (const story of swept(stories))
      test(story.why, async () => {
        for (const end of [await story.calls(() => faultKinds), await story.events(() => watchFaults)]) assertSame(end);
      });
  });

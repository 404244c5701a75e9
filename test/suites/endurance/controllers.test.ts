import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultKinds } from '../../support/simulated/faulty-calls.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { failureOf, setting, subjects } from '../../unit/controllers/simulated/subjects.ts';
import { swept } from '../../support/in-turn.ts';

const STEPS = 300;

for (const subject of subjects) {
  const { kind, stories } = subject;
  const forMs = setting(subject, 'MS', 60_000);

  test(`${forMs / 1_000} s of random clusters with ${kind}s, one after the other, are right and silent once they are left alone`, async (t) => {
    let steps = 0;
    for (let seed = setting(subject, 'SEED', 1_000), end = performance.now() + forMs; performance.now() < end; seed++) {
      const run = { seed, steps: STEPS };
      const ran = await subject.randomRun(run);
      steps += ran.steps;
      const failure = await failureOf(subject, run, ran, 100);
      if (failure !== undefined) assert.fail(failure);
    }
    t.diagnostic(`${steps} steps`);
  });

  describe(`a ${kind} controller whose calls fail, each in every way`, () => {
    for (const story of swept(stories))
      test(story.why, async () => {
        const { problems, runs } = await story.calls(() => faultKinds);
        assert.deepEqual(problems, []);
        assert.ok(runs > 0, 'nothing failed');
      });
  });

  describe(`a ${kind} controller whose watches fail at each event in every way`, () => {
    for (const story of swept(stories))
      test(story.why, { skip: story.neverLate ?? false }, async () => {
        const { problems, runs } = await story.events(() => watchFaults);
        assert.deepEqual(problems, []);
        assert.ok(runs > 0, 'nothing went wrong');
      });
  });
}

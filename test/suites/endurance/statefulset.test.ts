import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultKinds } from '../../support/simulated/faulty-calls.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { inWords } from '../../support/simulated/play-randomly.ts';
import { randomRun, shrunk } from '../../unit/controllers/statefulset/simulated/random-run.ts';
import { stories } from '../../unit/controllers/statefulset/simulated/stories.ts';
import { sweep, sweepWatches } from '../../unit/controllers/statefulset/simulated/sweep.ts';
import { swept } from './swept.ts';

const FOR_MS = Number(process.env['DKC_STATEFULSET_MS'] ?? 60_000);
const FIRST = Number(process.env['DKC_STATEFULSET_SEED'] ?? 1_000);
const STEPS = 300;

test(`${FOR_MS / 1_000} s of random sets, one after the other, are right and silent once they are left alone`, async (t) => {
  let steps = 0;
  for (let seed = FIRST, end = performance.now() + FOR_MS; performance.now() < end; seed++) {
    const run = { seed, steps: STEPS };
    const ran = await randomRun(run);
    steps += ran.steps;
    if (ran.problems.length === 0) continue;
    const least = await shrunk(run, ran, 100);
    assert.fail(inWords(least.run, least.ran));
  }
  t.diagnostic(`${steps} steps`);
});

describe('a StatefulSet controller whose calls fail, each in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      const { problems, runs } = await sweep(story, () => faultKinds);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing failed');
    });
});

describe('a StatefulSet controller whose watches fail at each event in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      const { problems, runs } = await sweepWatches(story, () => watchFaults);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing went wrong');
    });
});

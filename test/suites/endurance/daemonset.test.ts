import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultKinds } from '../../support/simulated/faulty-calls.ts';
import { watchFaults } from '../../support/simulated/faulty-watches.ts';
import { inWords, randomRun, shrunk } from '../../unit/controllers/daemonset/simulated/random-run.ts';
import { stories } from '../../unit/controllers/daemonset/simulated/stories.ts';
import { sweep, sweepWatches } from '../../unit/controllers/daemonset/simulated/sweep.ts';
import { swept } from './swept.ts';

const FOR_MS = Number(process.env['DKC_DAEMONSET_MS'] ?? 60_000);
const FIRST = Number(process.env['DKC_DAEMONSET_SEED'] ?? 1_000);
const STEPS = 300;

test(`${FOR_MS / 1_000} s of random clusters, one after the other, are right and silent once they are left alone`, async (t) => {
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

describe('a DaemonSet controller whose calls fail, each in every way', () => {
  for (const story of swept(stories))
    test(story.why, async () => {
      const { problems, runs } = await sweep(story, () => faultKinds);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing failed');
    });
});

describe('a DaemonSet controller whose watches fail at each event in every way', () => {
  for (const story of swept(stories))
    test(story.why, { skip: story.neverLate ?? false }, async () => {
      const { problems, runs } = await sweepWatches(story, () => watchFaults);
      assert.deepEqual(problems, []);
      assert.ok(runs > 0, 'nothing went wrong');
    });
});

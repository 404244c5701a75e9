import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords, randomRun, shrunk } from './simulated/random-run.ts';

const SEEDS = Number(process.env['DKC_DAEMONSET_SEEDS'] ?? 16);
const FIRST = Number(process.env['DKC_DAEMONSET_SEED'] ?? 1);
const STEPS = 120;

const judged = { creations: 0, deletions: 0 };

for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
  test(`whatever happens to a cluster in ${STEPS} steps, once it is left alone it is right and silent: seed ${seed}`, async () => {
    const run = { seed, steps: STEPS };
    const ran = await randomRun(run);
    judged.creations += ran.judged.creations;
    judged.deletions += ran.judged.deletions;
    if (ran.problems.length === 0) return;
    const least = await shrunk(run, ran);
    assert.fail(inWords(least.run, least.ran));
  });

test('runs in which nothing could have been wrong prove nothing', () => {
  assert.ok(judged.creations >= SEEDS * 10, `${judged.creations} creations were judged`);
  assert.ok(judged.deletions >= SEEDS, `${judged.deletions} deletions of available pods were judged`);
});

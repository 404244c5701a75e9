import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords } from '../daemonset/simulated/play-randomly.ts';
import { randomRun, shrunk } from './simulated/random-run.ts';

const SEEDS = Number(process.env['DKC_STATEFULSET_SEEDS'] ?? 6);
const FIRST = Number(process.env['DKC_STATEFULSET_SEED'] ?? 1);
const STEPS = 200;

const judged = { creations: 0, deletions: 0 };

for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
  test(`whatever happens to sets in ${STEPS} steps, once they are left alone they are right and silent: seed ${seed}`, async () => {
    const run = { seed, steps: STEPS };
    const ran = await randomRun(run);
    judged.creations += ran.judged.creations;
    judged.deletions += ran.judged.deletions;
    if (ran.problems.length === 0) return;
    const least = await shrunk(run, ran);
    assert.fail(inWords(least.run, least.ran));
  });

test('runs in which nothing could have been wrong prove nothing', () => {
  assert.ok(judged.creations >= SEEDS * 5, `${judged.creations} creations were judged`);
  assert.ok(judged.deletions >= SEEDS * 3, `${judged.deletions} deletions were judged`);
});

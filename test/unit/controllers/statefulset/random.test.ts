import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords } from '../../../support/simulated/play-randomly.ts';
import { randomRun, shrunk } from './simulated/random-run.ts';

const SEEDS = Number(process.env['DKC_STATEFULSET_SEEDS'] ?? 6);
const FIRST = Number(process.env['DKC_STATEFULSET_SEED'] ?? 1);
const STEPS = 200;

const checked = { creations: 0, deletions: 0 };

for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
  test(`whatever happens to sets in ${STEPS} steps, once they are left alone they are right and silent: seed ${seed}`, async () => {
    const run = { seed, steps: STEPS };
    const ran = await randomRun(run);
    checked.creations += ran.checked.creations;
    checked.deletions += ran.checked.deletions;
    if (ran.problems.length === 0) return;
    const least = await shrunk(run, ran);
    assert.fail(inWords(least.run, least.ran));
  });

test('runs in which nothing could have been wrong prove nothing', () => {
  assert.ok(checked.creations >= SEEDS * 5, `${checked.creations} creations were checked`);
  assert.ok(checked.deletions >= SEEDS * 3, `${checked.deletions} deletions were checked`);
});

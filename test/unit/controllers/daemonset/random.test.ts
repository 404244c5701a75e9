import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inWords, randomRun, shrunk } from './simulated/random-run.ts';

const SEEDS = Number(process.env['DKC_DAEMONSET_SEEDS'] ?? 16);
const FIRST = Number(process.env['DKC_DAEMONSET_SEED'] ?? 1);
const STEPS = 120;

const checked = { creations: 0, deletions: 0 };

for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
  test(`whatever happens to a cluster in ${STEPS} steps, once it is left alone it is right and silent: seed ${seed}`, async () => {
    const run = { seed, steps: STEPS };
    const ran = await randomRun(run);
    checked.creations += ran.checked.creations;
    checked.deletions += ran.checked.deletions;
    if (ran.problems.length === 0) return;
    const least = await shrunk(run, ran);
    assert.fail(inWords(least.run, least.ran));
  });

test('runs in which nothing could have been wrong prove nothing', () => {
  assert.ok(checked.creations >= SEEDS * 10, `${checked.creations} creations were checked`);
  assert.ok(checked.deletions >= SEEDS, `${checked.deletions} deletions of available pods were checked`);
});

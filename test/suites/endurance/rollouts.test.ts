import { test } from 'node:test';
import { RandomRun } from '../../support/fleet/random-run.ts';

const RUNS = Number(process.env['DKC_ROLLOUT_RUNS'] ?? 100);
const SEED = Number(process.env['SEED'] ?? 1);

test(`${RUNS} random rollouts: budgets hold at every write, what is good completes, what is bad is taken back`, async (t) => {
  let writes = 0;
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const run = new RandomRun(seed);
    await run.play();
    writes += run.writes;
  }
  t.diagnostic(`${writes} writes`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { converge } from '../../unit/kube/cache/convergence.ts';

const RUNS = Number(process.env['DKC_CONVERGENCE_RUNS'] ?? 1_000);
const CHANGES = 10_000;

test(`${RUNS} caches agree with their servers after ${CHANGES} changes each, whatever went wrong`, async () => {
  for (let seed = 1; seed <= RUNS; seed++) assert.deepEqual(await converge({ seed, changes: CHANGES }), [], `seed ${seed}`);
});

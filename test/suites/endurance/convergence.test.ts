import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Share } from './convergence-runs.ts';

const RUNS = Number(process.env['DKC_CONVERGENCE_RUNS'] ?? 1_000);
const CHANGES = 10_000;

/** One process per core, each with its share of the seeds. */
function runs(from: number, to: number): Promise<Share> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'convergence-runs.ts'), [String(from), String(to), String(CHANGES)]);
    let found: Share | undefined;
    child.once('message', (message) => (found = message as Share));
    child.once('error', reject);
    child.once('close', (code) => (found === undefined ? reject(new Error(`runs ${from} to ${to} ended with ${code}`)) : resolve(found)));
  });
}

test(`${RUNS} caches agree with their servers after ${CHANGES} changes each, whatever went wrong`, async () => {
  const shares = Math.min(availableParallelism(), 8);
  const bounds = Array.from({ length: shares + 1 }, (_, share) => 1 + Math.floor((RUNS * share) / shares));
  const done = await Promise.all(bounds.slice(1).map((to, share) => runs(bounds[share] ?? 1, to)));
  const wrong = done.flat();
  const seeds = wrong.map(({ seed }) => seed).join(' ');
  assert.equal(wrong.length, 0, `${wrong.length} of ${RUNS} went wrong: ${seeds}\n${JSON.stringify(wrong.slice(0, 5), undefined, 1)}`);
});

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const RUNS = Number(process.env['DKC_CONVERGENCE_RUNS'] ?? 1_000);
const CHANGES = 10_000;

interface Found {
  seed: number;
  problems: string[];
}

/** One process per core, each with its share of the seeds. */
function runs(from: number, to: number): Promise<Found[]> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'convergence-runs.ts'), [String(from), String(to), String(CHANGES)]);
    let found: Found[] | undefined;
    child.once('message', (message) => (found = message as Found[]));
    child.once('error', reject);
    child.once('close', (code) => (found === undefined ? reject(new Error(`runs ${from} to ${to} ended with ${code}`)) : resolve(found)));
  });
}

test(`${RUNS} caches agree with their servers after ${CHANGES} changes each, whatever went wrong`, async () => {
  const shares = Math.min(availableParallelism(), 8);
  const bounds = Array.from({ length: shares + 1 }, (_, share) => 1 + Math.floor((RUNS * share) / shares));
  const found = await Promise.all(bounds.slice(1).map((to, share) => runs(bounds[share] ?? 1, to)));
  assert.equal(found.flat().length, 0, JSON.stringify(found.flat().slice(0, 5), undefined, 1));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { ChangesOptions, ChangesResult } from './scenarios/changes.ts';
import { machines } from './suite.ts';

const CALM = 5;
const killed = Number(process.env['DKC_CHANGES'] ?? 50);
const count = CALM + killed;
/** In s; a quiet machine needs an eighth of it. */
const timeout = 1600;

await machines('configuration changes', () => {
  test(`${count} changes, and the agent killed in the middle of all but ${CALM}, are ${count} restarts of the kubelet, each with its file`, async (t) => {
    const options: ChangesOptions = { calm: CALM, killed };
    const seen = await onMachine<ChangesResult>('changes', { options, timeout });
    const wanted = Array.from({ length: count + 1 }, (_, n) => 100 + n);
    assert.deepEqual([seen.starts, seen.mismatches, seen.effective], [wanted, 0, 100 + count]);
    t.diagnostic(`from a change to the kubelet's start, in ms: ${seen.latencies.join(' ')}`);
  });
});

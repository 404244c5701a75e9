import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentName } from './inside/agent.ts';
import { onMachine } from './machine.ts';
import type { ChangesOptions, ChangesResult } from './scenarios/changes.ts';
import { agents, machines, quantile, range } from './suite.ts';

/** The stand-in shows that units and scripts are right, whatever the agent: for that, fewer changes are enough. */
const bundle = Number(process.env['DKC_CHANGES'] ?? 50);
const undisturbed: Record<AgentName, number> = { 'stand-in': 10, bundle };
const disturbed: Record<AgentName, number> = { 'stand-in': 10, bundle };
/** In s; a quiet machine needs an eighth of it. */
const timeout = 1600;

await machines('configuration changes', () => {
  for (const agent of agents) {
    const [count, killed] = [undisturbed[agent], disturbed[agent]];
    test(`${agent}: ${count} changes are ${count} restarts of the kubelet, each with its file`, async (t) => {
      const options: ChangesOptions = { count, kill: false };
      const seen = await onMachine<ChangesResult>('changes', { agent, options, timeout });
      assert.deepEqual(seen.starts, range(100, 100 + count));
      assert.deepEqual([seen.mismatches, seen.effective], [0, 100 + count]);
      t.diagnostic(
        `from a change to the kubelet's start: p50 ${quantile(seen.latencies, 0.5)} ms, p99 ${quantile(seen.latencies, 0.99)} ms`,
      );
    });

    test(`${agent}: ${killed} changes, and the agent killed in the middle of each, are ${killed} restarts`, async (t) => {
      // A short RestartSec=, so that all that happens between two configurations happens while kills are aimed at it.
      const options: ChangesOptions = { count: killed, kill: true, restartSec: '100ms' };
      const seen = await onMachine<ChangesResult>('changes', { agent, options, timeout });
      assert.deepEqual(seen.starts, range(100, 101 + killed));
      assert.deepEqual([seen.mismatches, seen.effective], [0, 101 + killed]);
      t.diagnostic(
        `${killed} kills, ${seen.waited} of an agent that had just begun; from a change to the kubelet's start: p50 ${quantile(seen.latencies, 0.5)} ms`,
      );
    });
  }
});

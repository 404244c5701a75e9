import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentName } from './inside/agent.ts';
import { onMachine } from './machine.ts';
import type { ChangesOptions, ChangesResult } from './scenarios/changes.ts';
import { agents, machines, quantile, range } from './suite.ts';

/** The stand-in shows that units and scripts are right: for that, a few undisturbed changes are enough. */
const counts: Record<AgentName, number> = { 'stand-in': 10, bundle: 50 };
const KILLED = 50;

await machines('configuration changes', () => {
  for (const agent of agents) {
    const count = counts[agent];
    test(`${agent}: ${count} changes are ${count} restarts of the kubelet, each with its file`, async (t) => {
      const options: ChangesOptions = { count, killWithinMs: 0 };
      const seen = await onMachine<ChangesResult>('changes', { agent, options });
      assert.deepEqual(seen.starts, range(100, 100 + count));
      assert.deepEqual([seen.mismatches, seen.effective], [0, 100 + count]);
      t.diagnostic(
        `from a change to the kubelet's start: p50 ${quantile(seen.latencies, 0.5)} ms, p99 ${quantile(seen.latencies, 0.99)} ms`,
      );
    });

    test(`${agent}: ${KILLED} changes, and the agent killed in the middle of each, are ${KILLED} restarts`, async (t) => {
      // A short RestartSec=, so that all that happens between two configurations happens while kills are aimed at it.
      const options: ChangesOptions = { count: KILLED, killWithinMs: 500, restartSec: '100ms' };
      const seen = await onMachine<ChangesResult>('changes', { agent, options });
      assert.deepEqual(seen.starts, range(100, 100 + KILLED));
      assert.deepEqual([seen.mismatches, seen.effective], [0, 100 + KILLED]);
      assert.ok(seen.kills > KILLED / 4, `only ${seen.kills} kills met an agent`);
      t.diagnostic(`${seen.kills} kills; from a change to the kubelet's start: p50 ${quantile(seen.latencies, 0.5)} ms`);
    });
  }
});

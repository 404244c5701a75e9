import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { FaultsResult } from './scenarios/faults.ts';
import { agents, machines } from './suite.ts';

await machines('faults of the agent', () => {
  for (const agent of agents) {
    test(`${agent}: leave the kubelet untouched`, async (t) => {
      const { faults, starts } = await onMachine<FaultsResult>('faults', { agent });
      assert.deepEqual(
        faults.map((f) => `${f.fault}: kubelet ${f.kubelet}, agent ${f.agent}`),
        [
          'kill -9: kubelet untouched, agent active',
          'abort: kubelet untouched, agent active',
          'exit 1: kubelet untouched, agent active',
          'hang: kubelet untouched, agent active',
          'systemctl restart: kubelet untouched, agent active',
          'stop: kubelet untouched, agent inactive',
          'start again: kubelet untouched, agent active',
        ],
      );
      assert.deepEqual(starts, [100, 101]);
      t.diagnostic(faults.map((f) => `${f.fault} ${f.ms} ms`).join(', '));
    });
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { StopResult } from './scenarios/stop.ts';
import { machines } from './suite.ts';

const EFFECTIVE = '/var/lib/dkc/kubelet.yaml';
const LOCAL = '/var/lib/kubelet/config.yaml';

await machines('the commands of docs/operations.md', () => {
  test('keep the agent stopped, and take it off again with one restart of the kubelet, on its local config', async () => {
    const seen = await onMachine<StopResult>('stop', { agent: 'bundle' });
    assert.deepEqual(seen, {
      'a plain stop, and the kubelet restarts': { agent: 'active', starts: 1, config: EFFECTIVE, maxPods: 101 },
      'masked, and the kubelet restarts': { agent: 'inactive', starts: 1, config: EFFECTIVE, maxPods: 101 },
      unmasked: { agent: 'active', starts: 0, config: EFFECTIVE, maxPods: 101 },
      uninstalled: { agent: 'inactive', starts: 1, config: LOCAL, maxPods: 100 },
      'uninstalled, and the kubelet restarts': { agent: 'inactive', starts: 1, config: LOCAL, maxPods: 100 },
    });
  });
});

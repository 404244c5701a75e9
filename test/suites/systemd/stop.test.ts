import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { onMachine } from './machine.ts';
import type { StopResult } from './scenarios/stop.ts';
import { machines } from './suite.ts';

const EFFECTIVE = '/var/lib/dkc/kubelet.yaml';

const PAGE = 'docs/operations.md';

await machines(`the commands of ${PAGE}`, () => {
  test('keep the agent stopped, and start it again; what else befalls the agent leaves the kubelet untouched', async () => {
    const commands = commandsOn(PAGE).flatMap((part) => (isPlayedBy('test/suites/systemd/stop.test.ts', PAGE, part) ? [part.command] : []));
    const { faults, steps } = await onMachine<StopResult>('stop', { options: { commands } });
    const back = 'kubelet untouched, agent active';
    assert.deepEqual(faults, { 'kill -9': back, hang: back, 'systemctl restart': back, stop: 'kubelet untouched, agent inactive' });
    assert.deepEqual(steps, {
      'a plain stop, and the kubelet restarts': { agent: 'active', isKept: true, starts: 1, config: EFFECTIVE, maxPods: 101 },
      'masked, and the kubelet restarts': { agent: 'inactive', isKept: true, starts: 1, config: EFFECTIVE, maxPods: 101 },
      unmasked: { agent: 'active', isKept: true, starts: 0, config: EFFECTIVE, maxPods: 101 },
    });
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { onNode } from './machine.ts';
import type { BootResult } from './scenarios/boot.ts';
import { onRealNodes } from './suite.ts';

const agent = { preflight: false, policy: 'none', trialDuration: '2s' };
/** Of the kubelet's unit, in s: the power goes long before it has died often enough for a verdict. */
const ONE_DEATH = 300;
const enable = ['dkc-agent.service', 'kubelet.service'];

await onRealNodes('a reboot without an API server', () => {
  test('ends on the trusted config, also when the power went while another one killed the kubelet', async (t) => {
    const state = mkdtempSync(join(tmpdir(), 'dkc-real-'));
    t.after(() => rmSync(state, { recursive: true }));
    const before = await onNode<{ history: string[]; crashes: number }>('cut-off', { agent, state, restartSec: ONE_DEATH });
    assert.ok(before.history.includes('assigned') && !before.history.includes('condemned'), before.history.join());

    const first = await onNode<BootResult>('boot', { agent, state, enable });
    t.diagnostic(`on trial at the reboot: healthy on the config before ${first.healthyMs} ms after the boot, ${first.crashes} deaths`);
    // The power cut is one of the three: no clean stop went before this boot.
    assert.ok(first.crashes >= 2, `${first.crashes} crashes`);
    const error = 'failed trial, see dkc-agent log for details';
    const seen = ({ status }: BootResult) => [status.assigned?.name, status.active?.name, status.error];
    assert.deepEqual(seen(first), ['killer', 'good', error]);

    const second = await onNode<BootResult>('boot', { agent, state, enable });
    t.diagnostic(`undone before: kubelet started ${second.firstMs} ms after systemd`);
    assert.deepEqual([second.starts, second.crashes], [1, 0]);
    assert.deepEqual(seen(second), ['killer', 'good', error]);
  });
});

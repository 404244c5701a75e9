import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubeletConfig } from './inside/kubelet.ts';
import { onMachine } from './machine.ts';
import type { BootResult } from './scenarios/boot.ts';
import { machines } from './suite.ts';

const enable = ['dkc-agent.service', 'kubelet.service'];
const AGENT = '/usr/lib/dkc/dkc.js';

await machines('boot', () => {
  test('a reboot without an API server gives the kubelet its last configuration', async (t) => {
    const state = mkdtempSync(join(tmpdir(), 'dkc-state-'));
    t.after(() => rmSync(state, { recursive: true }));
    // With its settings, so that the second boot has a kubeconfig, and nobody at the end of it.
    const keep = { [join(state, 'lib')]: '/var/lib/dkc', [join(state, 'etc')]: '/etc/dkc' };
    for (const folder of Object.keys(keep)) mkdirSync(folder);
    const before = await onMachine<{ starts: unknown[] }>('assign-one', { keep, options: { maxPods: 142 } });
    assert.deepEqual(before.starts, [100, 142]);
    const seen = await onMachine<BootResult>('boot', { keep, enable });
    assert.deepEqual([seen.starts, seen.same, seen.agent], [[142], true, 'running']);
    t.diagnostic(`the kubelet starts ${seen.kubeletAfterMs} ms after systemd`);
  });

  // Without a wait for the agent's TimeoutStartSec=, which is 15 s; and with no other wait than that.
  const broken = [
    { why: 'that is cut off', text: 'const x = {', within: 14_000 },
    { why: 'that never becomes ready', text: 'setInterval(() => {}, 1000)', within: 60_000 },
  ];
  for (const { why, text, within } of broken) {
    test(`an agent ${why} does not keep the kubelet from its last configuration`, async (t) => {
      const files = { [AGENT]: text, '/var/lib/dkc/kubelet.yaml': kubeletConfig({ maxPods: 133 }) };
      const seen = await onMachine<BootResult>('boot', { enable, files });
      assert.deepEqual([seen.starts, seen.same], [[133], true]);
      assert.notEqual(seen.agent, 'running');
      assert.ok(seen.kubeletAfterMs < within, `the kubelet started after ${seen.kubeletAfterMs} ms`);
      t.diagnostic(`the kubelet starts ${seen.kubeletAfterMs} ms after systemd`);
    });
  }

  test('an agent that never started leaves the kubelet with its local configuration', async () => {
    const seen = await onMachine<BootResult>('boot', { enable, files: { [AGENT]: 'process.exit(1)' } });
    assert.deepEqual([seen.starts, seen.same], [[100], true]);
  });
});

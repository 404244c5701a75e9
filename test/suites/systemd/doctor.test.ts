import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { DoctorResult } from './scenarios/doctor.ts';
import { machines } from './suite.ts';

await machines('dkc doctor', () => {
  test('has nothing to say about a node that is fine, and names what somebody breaks', async (t) => {
    const { fine, broken, texts, repaired } = await onMachine<DoctorResult>('doctor');
    for (const text of [...fine, ...texts]) t.diagnostic(text);
    // No machine of a test has a network to take the time from.
    assert.deepEqual(fine, ['clock warning: the clock of this machine is not synchronized by NTP']);
    const failed = (...found: string[]) => ({ code: 1, found });
    assert.deepEqual(broken, {
      'a drop-in that comes later': failed('drop-in-order failed', 'config-flag failed'),
      'an environment file of kubeadm': failed('environment-files failed', 'config-flag failed', 'kubelet-flags warning'),
      'a drop-in that systemd has not read': { code: 0, found: ['daemon-reload warning'] },
      'a masked agent': failed('agent-unit failed', 'agent-running skipped'),
      'another program on the health port of a stopped kubelet': failed('kubelet-running failed', 'kubelet-process skipped', 'kubelet-ports failed', 'kubelet-health failed'),
    }); // prettier-ignore
    assert.deepEqual(repaired, ['clock warning']);
  });
});

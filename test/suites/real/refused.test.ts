import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onNode } from './machine.ts';
import type { RefusedResult } from './scenarios/refused.ts';
import { onRealNodes } from './suite.ts';

/** What a kubelet wants of the kernel. */
const wanted = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

await onRealNodes('preflight for a real kubelet', () => {
  test('refuses what would not start or would die, with the kubelet untouched', async (t) => {
    // Field policy has its own tests; here it would refuse most of these first.
    const { local, refusals, accepted, unknown } = await onNode<RefusedResult>('refused', { agent: { policy: 'none' } });
    for (const { why, rule, ms, status, events, kubelet } of refusals) {
      t.diagnostic(`${why}: refused after ${ms} ms`);
      assert.match(status.error ?? '', /^failed to (?:validate|load) config, see Kubelet log for details$/, why);
      assert.deepEqual([status.assigned, status.active], [null, null], why);
      assert.equal(events.length, 1, why);
      assert.ok(events[0]?.includes(`[${rule}]`), `${why}: ${events[0]}`);
      assert.deepEqual(kubelet, local, `${why}: the kubelet was restarted`);
    }
    const load = refusals.filter(({ status }) => status.error?.includes('load')).map(({ rule }) => rule);
    assert.deepEqual(load, ['duration']);

    const kernel = refusals.find(({ rule }) => rule === 'sysctl')?.events[0] ?? '';
    for (const [name, value] of Object.entries(wanted))
      assert.equal(kernel.includes(name), readFileSync(`/proc/sys/${name}`, 'utf8').trim() !== value, `${name} in: ${kernel}`);

    assert.deepEqual([accepted.status.active, accepted.status.error], ['accepted', null]);
    assert.equal(accepted.eventQps, 7);
    assert.deepEqual(unknown, []);
    assert.equal(accepted.warnings.length, 4, accepted.warnings.join('\n'));
    for (const field of ['tlsCertFile', 'tlsPrivateKeyFile'])
      assert.ok(accepted.warnings.some((line) => line.includes(`${field} names a file that the agent has no permission to read`)));
    assert.ok(accepted.warnings.some((line) => line.includes('seccompDefault is not known to kubelet 1.20')));
    assert.ok(accepted.warnings.some((line) => line.includes('eventRecordQPS has no effect: the kubelet is started with --event-qps')));
  });
});

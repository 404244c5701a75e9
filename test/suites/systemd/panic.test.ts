import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { onMachine } from './machine.ts';
import type { PanicOptions, PanicResult } from './scenarios/panic.ts';
import { machines } from './suite.ts';

/** One machine with a disk that lasts: each call is a boot of it, with a boot id as each boot has. */
function machine(t: TestContext): (options: PanicOptions) => Promise<PanicResult> {
  const state = mkdtempSync(join(tmpdir(), 'dkc-state-'));
  t.after(() => rmSync(state, { recursive: true }));
  const keep = { [join(state, 'lib')]: '/var/lib/dkc', [join(state, 'etc')]: '/etc/dkc' };
  for (const folder of Object.keys(keep)) mkdirSync(folder);
  let boots = 0;
  return (options) => {
    boots += 1;
    const files = {
      '/etc/boot-id': `boot-${boots}\n`,
      '/etc/systemd/system/dkc-agent.service.d/50-boot-id.conf':
        '[Service]\nBindReadOnlyPaths=/etc/boot-id:/proc/sys/kernel/random/boot_id\n',
    };
    const enable = options.step === 'boot' ? ['dkc-agent.service', 'kubelet.service'] : [];
    return onMachine<PanicResult>('panic', { agent: 'bundle', keep, files, enable, options });
  };
}

await machines('a machine that dies', () => {
  test('after every boot under a new configuration comes back on the old one at the third boot', async (t) => {
    const boot = machine(t);
    assert.deepEqual(await boot({ step: 'assign', end: 'panic' }), { starts: [100, 101, 102], isClean: false });
    const starts = [];
    for (let n = 1; n <= 4; n++) starts.push((await boot({ step: 'boot', end: 'panic' })).starts);
    assert.deepEqual(starts, [[102], [102], [101], [101]]);
  });

  test('by a shutdown leaves a mark, and no such boot counts', async (t) => {
    const boot = machine(t);
    assert.deepEqual(await boot({ step: 'assign', end: 'shutdown' }), { starts: [100, 101, 102], isClean: true });
    for (let n = 1; n <= 4; n++) assert.deepEqual(await boot({ step: 'boot', end: 'shutdown' }), { starts: [102], isClean: true });
  });
});

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { PanicOptions, PanicResult } from './scenarios/panic.ts';
import { machines } from './suite.ts';

const shutDown = { starts: [102], isClean: true };
const died = { starts: [102], isClean: false };
/** The assignment was its first boot, which ended by a shutdown. */
const boots: { end: PanicOptions['end']; seen: PanicResult }[] = [
  { end: 'shutdown', seen: shutDown },
  { end: 'panic', seen: died },
  { end: 'panic', seen: died },
  { end: 'panic', seen: died },
  { end: 'panic', seen: { starts: [101], isClean: false } },
];

await machines('a machine that dies', () => {
  test('three times in a row under a new configuration comes back on the old one; a shutdown leaves a mark, and no such boot counts', async (t) => {
    const state = mkdtempSync(join(tmpdir(), 'dkc-state-'));
    t.after(() => rmSync(state, { recursive: true }));
    const keep = { [join(state, 'lib')]: '/var/lib/dkc', [join(state, 'etc')]: '/etc/dkc' };
    for (const folder of Object.keys(keep)) mkdirSync(folder);
    let count = 0;
    /** Another boot of the machine, with a boot id as each boot has. */
    const boot = (options: PanicOptions): Promise<PanicResult> => {
      count += 1;
      const files = {
        '/etc/boot-id': `boot-${count}\n`,
        '/etc/systemd/system/dkc-agent.service.d/50-boot-id.conf':
          '[Service]\nBindReadOnlyPaths=/etc/boot-id:/proc/sys/kernel/random/boot_id\n',
      };
      const enable = options.step === 'boot' ? ['dkc-agent.service', 'kubelet.service'] : [];
      return onMachine<PanicResult>('panic', { keep, files, enable, options });
    };
    assert.deepEqual(await boot({ step: 'assign', end: 'shutdown' }), { starts: [100, 101, 102], isClean: true });
    const seen: PanicResult[] = [];
    for (const { end } of boots) seen.push(await boot({ step: 'boot', end }));
    assert.deepEqual(seen, boots.map((one) => one.seen)); // prettier-ignore
  });
});

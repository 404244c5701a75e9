import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchHandOver } from '../../../../agent/trial/kubelet-watch.ts';
import { STARTED_FILE } from '../../../../agent/host/unit.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import type { Ran } from '../../../../base/exec.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const MINUTE = 60_000;

/**
 * What a look finds: a kubelet that was started on `this` file, on `another` or on one that is `unknown`, or one that is `down`. With `!` systemd refuses
 * a restart of it, with `?` it does not say whether it would.
 */
function watched(t: { after(done: () => Promise<void>): void }, first: string) {
  const [clock, over, { log, lines }] = [new FakeClock(), new AbortController(), recordedLog()];
  const [said, events, left]: [(string | null)[], string[], string[]] = [[], [], []];
  let look = first;
  const exec = async (_program: string, args: readonly string[]): Promise<Ran> => {
    const canRestart = look.endsWith('?') ? '' : `CanStart=${look.endsWith('!') ? 'no' : 'yes'}\nCanStop=yes\n`;
    return { code: 0, stdout: args.includes('CanStart') ? canRestart : look === 'down' ? 'inactive\n' : 'active\n', stderr: '' };
  };
  const files = () => (look === 'unknown' ? {} : { [`/run/dkc/${STARTED_FILE}`]: look.startsWith('this') ? 'now' : 'before' });
  const disk = { read: (path: string) => memoryDisk(files()).read(path) };
  const context = watchHandOver({
    options: { kubeletUnit: 'kubelet.service', kubeletExits: '/run/dkc/kubelet-exits' },
    world: { clock, log, disk, exec },
    configState: { active: { effectiveSha256: sha256('now') } },
    activeRecord: { notice: (_about, text) => void said.push(text) },
    shutdown: { signal: over.signal, leave: async (why) => void left.push(why) },
    announcer: { announce: (message) => void events.push(message) },
  });
  t.after(async () => {
    over.abort();
    await context;
  });
  return { clock, said, events, lines, left, now: (next: string) => void (look = next) };
}

// prettier-ignore
const files: { why: string; look: string; says: RegExp }[] = [
  { why: 'runs on another file', look: 'another', says: /^the kubelet has not been started on the effective file, so its trial cannot end: .*20-dkc\.conf.*systemctl cat kubelet\.service,/ },
  { why: 'runs on a file that nobody knows', look: 'unknown', says: /^it is unknown which file the kubelet was started on/ },
];
for (const { why, look, says } of files)
  test(`a kubelet that ${why} is told of once, after some minutes, and again when that is over`, async (t) => {
    const { clock, said, events, lines, now } = watched(t, look);
    await clock.advance(3 * MINUTE);
    assert.deepEqual([said, events], [[], []]);
    await clock.advance(60 * MINUTE);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', says);
    assert.deepEqual(events, look === 'unknown' ? said.slice() : [], 'that of a kubelet on another file is KubeletConfigDrifted');
    now('this');
    await clock.advance(MINUTE);
    assert.deepEqual(said.slice(1), [null]);
    assert.deepEqual(lines, [`error: ${said[0]}`, 'info: the kubelet runs on the effective file']);
  });

// prettier-ignore
const restarts: { why: string; looks: string; leaves?: true }[] = [
  { why: 'leaves once systemd accepts the restart that it refused when the agent started', looks: 'another! another', leaves: true },
  { why: 'leaves no sooner where systemd does not answer in between', looks: 'another! another? another', leaves: true },
  { why: 'stays where no restart was refused', looks: 'another? another another? another' },
  { why: 'stays where the kubelet runs on the file by then', looks: 'another! this' },
  { why: 'stays where the kubelet is down by then', looks: 'another! down' },
  { why: 'reports nothing of a kubelet that is on the file at least every three minutes', looks: 'this another another this another another' },
  { why: 'reports nothing of a kubelet that is down as often', looks: 'down another another down another another' },
];
for (const { why, looks, leaves = false } of restarts)
  test(`the agent ${why}`, async (t) => {
    const [first = '', ...more] = looks.split(' ');
    const { clock, said, left, now } = watched(t, first);
    await clock.advance(0);
    for (const look of more) {
      assert.deepEqual(left, []);
      now(look);
      await clock.advance(MINUTE);
    }
    assert.deepEqual([said, left.length > 0], [[], leaves]);
  });

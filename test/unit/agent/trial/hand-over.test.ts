import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchHandOver } from '../../../../agent/trial/kubelet-watch.ts';
import { STARTED_FILE } from '../../../../agent/host/unit.ts';
import type { AgentContext } from '../../../../agent/options.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import type { Ran } from '../../../../base/exec.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const MINUTE = 60_000;

/** A kubelet that runs, and of which a test says what it was started on. */
function watched(t: { after(done: () => Promise<void>): void }) {
  const [clock, over, { log, lines }] = [new FakeClock(), new AbortController(), recordedLog()];
  const kubelet: { started?: string } = {};
  const said: (string | null)[] = [];
  const events: string[] = [];
  const exec = async (_program: string, args: readonly string[]): Promise<Ran> =>
    ({ code: 0, stdout: args.includes('CanStart') ? 'CanStart=yes\nCanStop=yes\n' : 'active\n', stderr: '' }); // prettier-ignore
  const files = () => (kubelet.started === undefined ? {} : { [`/run/dkc/${STARTED_FILE}`]: kubelet.started });
  const disk = { read: (path: string) => memoryDisk(files()).read(path) };
  const context = watchHandOver({
    options: { kubeletUnit: 'kubelet.service', kubeletExits: '/run/dkc/kubelet-exits' },
    world: { clock, log, disk, exec },
    configState: { active: { effectiveSha256: sha256('now') } },
    activeRecord: { notice: (_about: string, text: string | null) => said.push(text) },
    shutdown: { signal: over.signal },
    announcer: { announce: (message: string) => events.push(message) },
  } as unknown as AgentContext);
  t.after(async () => {
    over.abort();
    await context;
  });
  return { clock, kubelet, said, events, lines };
}

// prettier-ignore
const files: { why: string; started?: string; says: RegExp }[] = [
  { why: 'runs on another file', started: 'before', says: /^the kubelet has not been started on the effective file, so its trial cannot end: .*20-dkc\.conf.*systemctl cat kubelet\.service,/ },
  { why: 'runs on a file that nobody knows', says: /^it is unknown which file the kubelet was started on/ },
];
for (const { why, started, says } of files)
  test(`a kubelet that ${why} is told of once, after some minutes, and again when that is over`, async (t) => {
    const { clock, kubelet, said, events, lines } = watched(t);
    if (started !== undefined) kubelet.started = started;
    await clock.advance(3 * MINUTE);
    assert.deepEqual([said, events], [[], []]);
    await clock.advance(60 * MINUTE);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', says);
    assert.deepEqual(events, started === undefined ? said.slice() : [], 'that of a kubelet on another file is KubeletConfigDrifted');
    kubelet.started = 'now';
    await clock.advance(MINUTE);
    assert.deepEqual(said.slice(1), [null]);
    assert.deepEqual(lines, [`error: ${said[0]}`, 'info: the kubelet runs on the effective file']);
  });

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

/** A kubelet of which a test says what it was started on, and whether it runs. */
function watched(t: { after(done: () => Promise<void>): void }, kubeletUnit = 'kubelet.service') {
  const [clock, over, { log, lines }] = [new FakeClock(), new AbortController(), recordedLog()];
  const kubelet: { started?: string; state: string; can: string } = { started: 'now', state: 'active', can: 'CanStart=yes\nCanStop=yes' };
  const said: (string | null)[] = [];
  const events: string[] = [];
  const left: string[] = [];
  const exec = async (_program: string, args: readonly string[]): Promise<Ran> => ({
    code: 0,
    stdout: `${args.includes('CanStart') ? kubelet.can : kubelet.state}\n`,
    stderr: '',
  });
  const disk = {
    read: (path: string) => memoryDisk(kubelet.started === undefined ? {} : { [`/run/dkc/${STARTED_FILE}`]: kubelet.started }).read(path),
  };
  const context = watchHandOver({
    options: { kubeletUnit, kubeletExits: '/run/dkc/kubelet-exits' },
    world: { clock, log, disk, exec },
    configState: { active: { effectiveSha256: sha256('now') } },
    activeRecord: { notice: (_about: string, text: string | null) => said.push(text) },
    shutdown: { signal: over.signal, leave: async (why: string) => void left.push(why) },
    announcer: { say: (message: string) => events.push(message) },
  } as unknown as AgentContext);
  t.after(async () => {
    over.abort();
    await context;
  });
  return { clock, kubelet, said, events, lines, left };
}

for (const [why, started, says] of [
  [
    'runs on another file',
    'before',
    /^the kubelet has not been started on the effective file, so its trial cannot end: .*20-dkc\.conf.*systemctl cat kubelet\.service,/,
  ],
  ['runs on a file that nobody knows', undefined, /^it is unknown which file the kubelet was started on/],
] as const) {
  test(`a kubelet that ${why} is told of once, after some minutes, and again when that is over`, async (t) => {
    const { clock, kubelet, said, events, lines } = watched(t);
    if (started === undefined) delete kubelet.started;
    else kubelet.started = started;
    await clock.advance(3 * MINUTE);
    assert.deepEqual([said, events], [[], []]);
    await clock.advance(60 * MINUTE);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', says);
    // That of a kubelet on another file is KubeletConfigDrifted.
    const event = started === undefined ? said.slice() : [];
    assert.deepEqual(events, event);
    kubelet.started = 'now';
    await clock.advance(MINUTE);
    assert.deepEqual([said.length, said[1], events.length], [2, null, event.length]);
    assert.deepEqual(lines, [`error: ${said[0]}`, 'info: the kubelet runs on the effective file']);
  });
}

test('a kubelet that is down begins its time again, and without a unit nobody is watched', async (t) => {
  const { clock, kubelet, said } = watched(t);
  kubelet.started = 'before';
  for (let n = 0; n < 10; n++) {
    kubelet.state = 'active';
    await clock.advance(2 * MINUTE);
    kubelet.state = 'inactive';
    await clock.advance(MINUTE);
  }
  assert.deepEqual(said, []);
  assert.equal(watched(t, '').clock.sleepers, 0);
});

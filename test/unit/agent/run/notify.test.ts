import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runAgent } from '../../../../agent/agent.ts';
import { agentDefaults, type AgentWorld } from '../../../../agent/options.ts';
import { openNotify, type Notify, Readiness } from '../../../../agent/run/notify.ts';
import { type Ran } from '../../../../base/exec.ts';
import { LockError } from '../../../../base/lock.ts';
import { silentLog } from '../../../../base/log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const PID = 4711;
const done: Ran = { code: 0, stdout: '', stderr: '' };

function opened(env: Record<string, string>, answer: () => Promise<Ran> = async () => done) {
  const clock = new FakeClock();
  const { log, lines } = recordedLog();
  const ran: string[] = [];
  const exec = (program: string, args: readonly string[]): Promise<Ran> => {
    ran.push([program, ...args].join(' '));
    return answer();
  };
  return { notify: openNotify({ env, pid: PID, exec, clock, log }), clock, ran, lines };
}

/** A watch that runs for `ms`, and what it told. */
async function watched({ notify, clock, ran }: ReturnType<typeof opened>, ms: number): Promise<string[]> {
  const end = new AbortController();
  const alive = notify.keepAlive(end.signal);
  await clock.advance(ms);
  end.abort();
  await alive;
  assert.equal(clock.sleepers, 0);
  return ran;
}

async function sayAll(notify: Notify): Promise<void> {
  await notify.ready('assigned: web');
  await notify.status('two\nlines\r\n\tand a tab');
  await notify.stopping();
}

/** A file where the passed socket would be; what is written to it is what systemd would get. */
async function passed(t: TestContext): Promise<{ fd: number; text: () => string }> {
  const path = join(await tempDir(t), 'socket');
  const fd = openSync(path, 'a');
  t.after(() => closeSync(fd));
  return { fd, text: () => readFileSync(path, 'utf8') };
}

/** The environment that passes `fd` under the name notify, behind others. */
function listening(fd: number): Record<string, string> {
  const names = [...Array.from({ length: fd - 3 }, (_, n) => `other${n}`), 'notify'];
  return { LISTEN_PID: String(PID), LISTEN_FDS: String(names.length), LISTEN_FDNAMES: names.join(':') };
}

test('with a socket passed by systemd every notification is a plain write to it, a status is one line', async (t) => {
  const { fd, text } = await passed(t);
  const { notify, ran, lines } = opened({ NOTIFY_SOCKET: '/run/systemd/notify', ...listening(fd) });
  await sayAll(notify);
  assert.equal(text(), 'READY=1\nSTATUS=assigned: webSTATUS=two lines and a tabSTOPPING=1');
  assert.deepEqual([ran, lines], [[], []]);
});

test('without systemd, or with a socket of another process, nothing is said, and nothing waited for', async () => {
  for (const env of [{}, { ...listening(99), LISTEN_PID: '1' }, { ...listening(99), LISTEN_FDS: '1' }]) {
    const told = opened(env);
    await sayAll(told.notify);
    assert.deepEqual([await watched(told, 60_000), told.lines], [[], []]);
  }
});

const socket = { NOTIFY_SOCKET: '/run/systemd/notify' };

const TELL = 'systemd-notify WATCHDOG=1';
const SPAN = { ...socket, WATCHDOG_USEC: '30000000' };
const watchdogs: { why: string; env: Record<string, string>; ms: number; times: number }[] = [
  { why: 'at once', env: { ...SPAN, WATCHDOG_PID: String(PID) }, ms: 9999, times: 1 },
  { why: 'three times in its span, without a pid too', env: SPAN, ms: 30_000, times: 4 },
  { why: 'never where nobody set one', env: socket, ms: 60_000, times: 0 },
  { why: 'never where it watches another process', env: { ...SPAN, WATCHDOG_PID: '1' }, ms: 60_000, times: 0 },
];
for (const { why, env, ms, times } of watchdogs)
  test(`the watchdog is told ${why}`, async () => assert.deepEqual(await watched(opened(env), ms), Array(times).fill(TELL)));

test('a watchdog that cannot be told is told again: the log knows, the agent goes on', async () => {
  const answers = [async () => ({ ...done, code: 1 }), () => Promise.reject(new Error('gone'))];
  const told = opened(SPAN, () => (answers.shift() ?? (async () => done))());
  assert.equal((await watched(told, 30_000)).length, 4);
  assert.deepEqual(told.lines, ['warn: sd_notify failed', 'warn: sd_notify failed']);
});

test('a start is READY when it is done; one that takes long is READY in time all the same, and pings the watchdog from then on', async () => {
  for (const { takesMs, says } of [
    { takesMs: 6999, says: ['ready: assigned: web'] },
    { takesMs: 7100, says: ['late', 'ready: starting: waiting for the disk', 'status: assigned: web'] },
    { takesMs: 20_000, says: ['late', 'ready: starting: waiting for the disk', TELL, TELL, 'status: assigned: web'] },
  ]) {
    const { notify, clock, ran } = opened(SPAN);
    const ready = async (status: string): Promise<void> => void (await clock.sleep(500).then(() => ran.push(`ready: ${status}`)));
    const status = async (text: string): Promise<void> => void ran.push(`status: ${text}`);
    const readiness = new Readiness({ notify: { ...notify, ready, status }, clock, readyWithinMs: 7000 }, () => ran.push('late'));
    await clock.advance(takesMs);
    const done = readiness.done('assigned: web');
    await clock.advance(500);
    await done;
    assert.deepEqual([ran, readiness.isLate, clock.sleepers], [says, takesMs > 7000, 0]);
  }
});

test('an agent whose store another one uses ends: it is never READY, and nothing of it is left', async () => {
  const { notify, clock, ran } = opened(SPAN);
  const take = (path: string): Promise<never> => Promise.reject(new LockError(path, 'another process holds it'));
  const disk = { ...memoryDisk({}), makeDir: async () => {} };
  const ready = async (): Promise<void> => void ran.push('ready');
  const world = { disk, clock, locks: { take }, log: silentLog, notify: { ...notify, ready }, readyWithinMs: 7000 };
  assert.equal(await runAgent({ ...agentDefaults, nodeName: 'node-a' }, world as unknown as AgentWorld), 1);
  await clock.advance(60_000);
  assert.deepEqual([ran, clock.sleepers], [[], 0]);
});

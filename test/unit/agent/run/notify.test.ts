import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openNotify, type Notify } from '../../../../agent/run/notify.ts';
import { type Ran } from '../../../../base/exec.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const PID = 4711;
const done: Ran = { code: 0, stdout: '', stderr: '' };

interface Told {
  notify: Notify;
  clock: FakeClock;
  /** Programs run, with their arguments. */
  ran: string[];
  lines: string[];
}

function opened(env: Record<string, string>, answer: () => Promise<Ran> = async () => done): Told {
  const clock = new FakeClock();
  const { log, lines } = recordedLog();
  const ran: string[] = [];
  const exec = (program: string, args: readonly string[]): Promise<Ran> => {
    ran.push([program, ...args].join(' '));
    return answer();
  };
  return { notify: openNotify({ env, pid: PID, exec, clock, log }), clock, ran, lines };
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
function listening(fd: number, over: Record<string, string> = {}): Record<string, string> {
  const names = [...Array.from({ length: fd - 3 }, (_, n) => `other${n}`), 'notify'];
  return { LISTEN_PID: String(PID), LISTEN_FDS: String(names.length), LISTEN_FDNAMES: names.join(':'), ...over };
}

test('with a socket passed by systemd every notification is a plain write to it, a status is one line', async (t) => {
  const { fd, text } = await passed(t);
  const { notify, ran, lines } = opened({ NOTIFY_SOCKET: '/run/systemd/notify', ...listening(fd) });
  await sayAll(notify);
  assert.equal(text(), 'READY=1\nSTATUS=assigned: webSTATUS=two lines and a tabSTOPPING=1');
  assert.deepEqual([ran, lines], [[], []]);
});

const notOurs = [
  { why: 'meant for another process', over: { LISTEN_PID: '1' } },
  { why: 'under another name', over: { LISTEN_FDNAMES: '' } },
];
for (const { why, over } of notOurs) {
  test(`descriptors ${why} are left alone`, async (t) => {
    const { fd, text } = await passed(t);
    const { notify, ran } = opened({ NOTIFY_SOCKET: '/run/systemd/notify', ...listening(fd, over) });
    await notify.stopping();
    assert.equal(text(), '');
    assert.deepEqual(ran, ['systemd-notify STOPPING=1']);
  });
}

test('without systemd nothing is said, and nothing waited for', async () => {
  for (const NOTIFY_SOCKET of [undefined, '']) {
    const { notify, ran, lines, clock } = opened(NOTIFY_SOCKET === undefined ? {} : { NOTIFY_SOCKET });
    await sayAll(notify);
    await notify.keepAlive(new AbortController().signal);
    assert.deepEqual([ran, lines, clock.sleepers], [[], [], 0]);
  }
});

const socket = { NOTIFY_SOCKET: '/run/systemd/notify' };

test('the watchdog is told three times in its span until the agent ends', async () => {
  const { notify, ran, clock } = opened({ ...socket, WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(PID) });
  const end = new AbortController();
  const alive = notify.keepAlive(end.signal);
  await atRest();
  assert.deepEqual(ran.splice(0), ['systemd-notify WATCHDOG=1'], 'at once');
  await clock.advance(9999);
  assert.equal(ran.length, 0);
  await clock.advance(1);
  assert.equal(ran.length, 1);
  await clock.advance(20_000);
  assert.equal(ran.length, 3);
  end.abort();
  await alive;
  assert.equal(clock.sleepers, 0);
});

const unwatched: { why: string; env: Record<string, string> }[] = [
  { why: 'nobody set one', env: {} },
  { why: 'it watches another process', env: { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' } },
];
for (const { why, env } of unwatched) {
  test(`there is no watchdog where ${why}`, async () => {
    const { notify, ran, clock } = opened({ ...socket, ...env });
    const end = new AbortController();
    const alive = notify.keepAlive(end.signal);
    await atRest();
    end.abort();
    await alive;
    assert.deepEqual([ran, clock.sleepers], [[], 0]);
  });
}

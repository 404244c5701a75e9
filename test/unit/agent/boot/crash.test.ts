import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewActive } from '../../../../agent/admin/facts.ts';
import { observeNode } from '../../../../agent/admin/observe.ts';
import { boot, type BootOutcome } from '../../../../agent/boot/execute.ts';
import { SlowDisk } from '../../../../agent/boot/volatile-file.ts';
import { decode, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { agentDefaults } from '../../../../agent/options.ts';
import { ActiveRecordWriter } from '../../../../agent/status/active-record-writer.ts';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { driftedName, layout } from '../../../../agent/store/layout.ts';
import { type Disk, SyncTimes } from '../../../../base/disk.ts';
import { silentLog } from '../../../../base/log.ts';
import { filesOf } from '../../../support/builders.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { config, numbered } from './hand-made-store.ts';

const [ROOT, LOCAL] = ['/d', '/etc/config.yaml'];
const paths = layout(ROOT);
const place = { dynamicConfigDir: ROOT, effectiveConfig: paths.effective, localConfig: LOCAL };
const options = { ...agentDefaults, ...place, policy: 'none', kubeletUnit: '' };
const kubelet = { version: parseKubeletVersion('1.30'), args: [] };
const storeOn = (disk: Disk): FsStore => new FsStore({ disk, locks: memoryLocks(), root: ROOT, clock: new FakeClock() });

/** What an agent does to the disk when it starts. */
async function start(disk: Disk): Promise<BootOutcome> {
  const [clock, log] = [new FakeClock(), silentLog];
  const outcome = await boot({ options, store: storeOn(disk), disk, clock, log, kubelet });
  const configState = new NodeConfigState(outcome);
  const memo = new ActiveRecordWriter({ disk, clock, log, path: paths.active, volatilePath: '/run/dkc/active.json', configState, nodeName: 'node-a' }); // prettier-ignore
  memo.note();
  await memo.settled();
  return outcome;
}

const podsIn = (text: string): string | undefined => /maxPods: (\d+)/.exec(text)?.[1];
const textOf = async (disk: Disk, path: string): Promise<string> => new TextDecoder().decode(await disk.read(path));

/** What `dkc status` says of the file that the kubelet reads. */
async function seenBy(disk: Disk): Promise<string> {
  const facts = await observeNode({ store: storeOn(disk), disk, ...place });
  const { from, used, source } = viewActive(facts);
  return `${from}: ${used} ${source?.name ?? '-'} ${podsIn(facts.effective.text)}`;
}

const BEFORE = 'agent: local - 110';
const AFTER = 'agent: assigned config-1 41';

/** A node that runs its local config, with an assignment on disk that the next start of the agent takes over. */
async function assigned(): Promise<CrashDisk> {
  const disk = new CrashDisk();
  disk.plant(LOCAL, config('maxPods: 110'));
  await start(disk.disk());
  const store = storeOn(disk.disk());
  for (const n of [1, 2]) await store.save({ ...numbered(n), files: filesOf({ kubelet: config(`maxPods: 4${n}`) }), annotations: {} });
  await store.setRecord('last-known-good', numbered(2));
  await store.setRecord('assigned', numbered(1));
  return disk.settled();
}

test('at every write of a start, and wherever it is cut off, the effective file is known to be the agent’s', async () => {
  const disk = await assigned();
  const whole = disk.afterKill();
  await start(whole.disk());
  assert.equal(await seenBy(whole.disk()), AFTER);
  for (let at = 0; at <= whole.changes; at++) {
    const cut = disk.afterKill();
    cut.fault = { kind: 'cut', at };
    await start(cut.disk()).catch(() => {});
    const after = `after ${cut.trace[at - 1] ?? 'nothing'}`;
    assert.match(await seenBy(cut.afterKill().disk()), at === 0 ? new RegExp(BEFORE) : new RegExp(`^(${BEFORE}|${AFTER})$`), after);
    // And the next agent ends where an undisturbed one does.
    const next = cut.afterKill();
    assert.equal((await start(next.disk())).drifted, undefined, `${after}: taken for the file of another hand`);
    assert.equal(await seenBy(next.disk()), AFTER);
    assert.doesNotMatch(await textOf(next.disk(), paths.active), /"next"/);
  }
});

for (const kind of ['EIO', 'ENOSPC', 'EROFS'] as const)
  test(`with ${kind} at any operation of a start, the effective file is an old or a new one, and the outcome says which`, async () => {
    const rested = await assigned();
    for (let at = 1; ; at++) {
      const fs = rested.afterKill();
      fs.fault = { kind, at };
      // An agent that may not even start leaves everything as it is; its kubelet starts on the file that is there.
      const outcome = await start(fs.disk()).catch((error: unknown) => error as Error);
      const text = await textOf(fs.afterKill().disk(), paths.effective);
      const pods = podsIn(text);
      assert.ok(decode(new TextEncoder().encode(text), kubelet.version).ok, `${kind} at ${at} left ${text}`);
      if (outcome instanceof Error) assert.equal(pods, '110', `${kind} at ${at}: ${outcome.message}`);
      else {
        assert.equal(outcome.effective.usable, true, `${kind} at ${at}`);
        assert.equal(pods, { assigned: '41', 'last-known-good': '42', local: '110' }[outcome.used], `${kind} at ${at}`);
        assert.equal(outcome.used === 'assigned' || outcome.error !== null, true, `${kind} at ${at}: an error is told`);
      }
      // The disk is well again: the next boot arrives where the first one was going.
      const mended = fs.afterKill();
      const next = await start(mended.disk());
      assert.deepEqual([next.used, next.error, await seenBy(mended.disk())], ['assigned', null, AFTER], `${kind} at ${at}`);
      if ((kind === 'EIO' ? fs.operations : fs.changes) < at) break;
    }
  });

test('a file of another hand is kept before it is overwritten, the newest one alone; with nothing better it stays', async () => {
  const disk = (await assigned()).afterKill();
  await start(disk.disk());
  const keptAs = driftedName(paths.effective);
  for (const text of ['theirs', 'and again']) {
    disk.plant(paths.effective, text);
    assert.deepEqual((await start(disk.disk())).drifted, { was: 'changed', keptAs });
    assert.equal(await textOf(disk.disk(), keptAs), text);
    assert.equal(await seenBy(disk.disk()), AFTER);
  }
  const alone = new CrashDisk();
  alone.plant(LOCAL, config('maxPods: 110'));
  await start(alone.disk());
  await alone.disk().remove(LOCAL);
  alone.plant(paths.effective, config('maxPods: 7'));
  assert.equal((await start(alone.disk())).drifted, undefined);
  assert.equal(await seenBy(alone.disk()), 'agent: local - 7');
});

test('a disk that takes seconds to sync is said, again where it gets much worse, and once it is well for a minute', async () => {
  const [clock, { log, lines }] = [new FakeClock(), recordedLog()];
  const syncs = new SyncTimes(() => clock.monotonic());
  const said: (string | null)[] = [];
  const stop = new AbortController();
  const slowDisk = new SlowDisk({ clock, log, syncs });
  const running = slowDisk.run({ notice: (about, text) => void said.push(text && `${about}: ${text}`) }, stop.signal);
  const all = [['/d/quick', 900], ['/d/.dkc-tmp-1', 1500], ['/d/meta', 2900], ['/d/hangs', 7100], ['/d/quick', 1], ['/d/later', 1200]] as const; // prettier-ignore
  for (const [path, ms] of all) {
    const done = syncs.begin(path);
    await clock.advance(ms);
    if (path !== '/d/hangs') done();
    await clock.advance(10_000);
    if (path === '/d/hangs') done();
    if (path === '/d/later') await clock.advance(45_000).then(() => assert.notEqual(said.at(-1), null));
  }
  assert.match(slowDisk.worst() ?? '', /^the disk took 17\.1 s to write \/d\/hangs$/);
  await clock.advance(70_000);
  stop.abort();
  await running;
  assert.deepEqual(said.map((text) => text && /^disk: .* it takes (\S+ s to write \S+),/.exec(text)?.[1]), ['1.5 s to write /d', '4.7 s to write /d/hangs', '14.7 s to write /d/hangs', null]); // prettier-ignore
  assert.deepEqual(lines, [...Array(3).fill('warn: disk is slow'), 'info: disk is no longer slow']);
});

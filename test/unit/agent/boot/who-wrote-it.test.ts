import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewActive } from '../../../../agent/admin/facts.ts';
import { observeNode } from '../../../../agent/admin/observe.ts';
import { boot } from '../../../../agent/boot/execute.ts';
import type { BootOutcome } from '../../../../agent/boot/plan.ts';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { ActiveRecordWriter } from '../../../../agent/status/active-record-writer.ts';
import { agentDefaults } from '../../../../agent/options.ts';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { driftedName, layout } from '../../../../agent/store/layout.ts';
import type { Disk } from '../../../../base/disk.ts';
import { silentLog } from '../../../../base/log.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { config, numbered } from './hand-made-store.ts';

const ROOT = '/d';
const LOCAL = '/etc/config.yaml';
const paths = layout(ROOT);
const options = {
  ...agentDefaults,
  dynamicConfigDir: ROOT,
  effectiveConfig: paths.effective,
  localConfig: LOCAL,
  policy: 'none',
  kubeletUnit: '',
};

const storeOn = (disk: Disk): FsStore => new FsStore({ disk, locks: memoryLocks(), root: ROOT, clock: new FakeClock() });

/** What an agent does to the disk when it starts. */
async function start(disk: Disk): Promise<BootOutcome> {
  const [clock, log] = [new FakeClock(), silentLog];
  const kubelet = { version: parseKubeletVersion('1.30'), args: [] };
  const outcome = await boot({ options, store: storeOn(disk), disk, clock, log, kubelet });
  const memo = new ActiveRecordWriter({
    disk,
    clock,
    log,
    path: paths.active,
    configState: new NodeConfigState(outcome),
    nodeName: 'node-a',
  });
  memo.note();
  await memo.settled();
  return outcome;
}

/** What `dkc status` says of the file that the kubelet reads. */
async function seenBy(disk: Disk): Promise<string> {
  const facts = await observeNode({
    store: storeOn(disk),
    disk,
    dynamicConfigDir: ROOT,
    effectiveConfig: paths.effective,
    localConfig: LOCAL,
  });
  const { from, used, source } = viewActive(facts);
  return `${from}: ${used} ${source?.name ?? '-'} ${/maxPods: (\d+)/.exec(facts.effective.text)?.[1]}`;
}

const BEFORE = 'agent: local - 110';
const AFTER = 'agent: assigned config-1 41';

/** A node that runs its local config, with an assignment on disk that the next start of the agent takes over. */
async function assigned(): Promise<CrashDisk> {
  const disk = new CrashDisk();
  disk.plant(LOCAL, config('maxPods: 110'));
  await start(disk.disk());
  const store = storeOn(disk.disk());
  await store.save({ ...numbered(1), files: new Map([['kubelet', new TextEncoder().encode(config('maxPods: 41'))]]), annotations: {} });
  await store.setRecord('assigned', numbered(1));
  return disk.settled();
}

test('at every write of a start, and wherever it is cut off, the effective file is known to be the agent’s', async () => {
  const disk = await assigned();
  const whole = disk.afterKill();
  await start(whole.disk());
  assert.equal(await seenBy(whole.disk()), AFTER);
  const seen = new Set<string>();
  for (let at = 0; at <= whole.changes; at++) {
    const cut = disk.afterKill();
    cut.fault = { kind: 'cut', at };
    await start(cut.disk()).catch(() => {});
    const now = await seenBy(cut.afterKill().disk());
    assert.ok(now === BEFORE || now === AFTER, `after ${cut.trace[at - 1] ?? 'nothing'}: ${now}`);
    seen.add(now);
    // And the next agent ends where an undisturbed one does.
    const next = cut.afterKill();
    const { drifted } = await start(next.disk());
    assert.equal(drifted, undefined, `after ${cut.trace[at - 1] ?? 'nothing'}: taken for the file of another hand`);
    assert.equal(await seenBy(next.disk()), AFTER);
    const record = JSON.parse(new TextDecoder().decode(await next.disk().read(paths.active))) as { next?: unknown };
    assert.equal(record.next, undefined);
  }
  assert.deepEqual([...seen], [BEFORE, AFTER]);
});

test('a file of another hand is kept before it is overwritten, the newest one alone; with nothing better it stays', async () => {
  const disk = (await assigned()).afterKill();
  await start(disk.disk());
  const keptAs = driftedName(paths.effective);
  for (const text of ['theirs', 'and again']) {
    disk.plant(paths.effective, text);
    assert.deepEqual((await start(disk.disk())).drifted, { was: 'changed', keptAs });
    assert.equal(new TextDecoder().decode(await disk.disk().read(keptAs)), text);
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

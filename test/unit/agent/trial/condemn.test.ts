import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { layout } from '../../../../agent/store/layout.ts';
import type { CondemnedRecord, Store } from '../../../../agent/store/store.ts';
import { CleanStop } from '../../../../agent/run/shutdown.ts';
import { condemn, countBoot } from '../../../../agent/trial/condemn.ts';
import { silentLog } from '../../../../base/log.ts';
import { condemned, content, payload, source } from '../../../support/builders.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';

const ROOT = '/var/lib/dkc';
const clock = new FakeClock();
const A = content('A');

/** A node with A on trial in boot b1, `before` boots of it counted already, and a clean stop of `stopped` on record. */
async function node({ before = 0, stopped, trusted = false }: { before?: number; stopped?: string; trusted?: boolean } = {}) {
  const fs = new CrashDisk();
  const open = (disk = fs.disk()) => ({
    store: new FsStore({ disk, locks: memoryLocks(), root: ROOT, clock }),
    cleanStop: new CleanStop(disk, layout(ROOT).cleanStop, silentLog),
  });
  const { store, cleanStop } = open();
  await store.initialize();
  await store.save(payload(source('web@1'), { kubelet: 'A' }));
  await store.setRecord('assigned', source('web@1'));
  if (trusted) await store.setRecord('last-known-good', source('web@1'));
  const counted = { healthyMs: 180_000, exits: 2, evidence, exitsOffset: 90, bootId: 'b1', uncleanBoots: before };
  await store.setTrial({ source: source('web@1'), ...A, assignedAt: '2026-03-01T00:00:00Z', ...counted });
  if (stopped !== undefined) await cleanStop.note(stopped, '2026-03-01T00:00:00Z');
  const boot = (bootId: string) => countBoot({ ...open(), options: { maxKubeletExits: 3 }, bootId, clock, log: silentLog });
  const seen = async () => {
    const { store: now, cleanStop: mark } = open();
    const { healthyMs, uncleanBoots, exits, evidence: kept } = (await now.trial()) ?? {};
    const condemned = (await now.condemned()).map(({ reason }) => reason);
    return { healthyMs, uncleanBoots, exits, ...(kept && { evidence: kept }), mark: await mark.boot(), condemned };
  };
  return { fs, boot, seen };
}

const evidence = ['exited with status 1'];
const gone = { healthyMs: undefined, uncleanBoots: undefined, exits: undefined, mark: undefined };
// prettier-ignore
const boots: { why: string; given: Parameters<typeof node>[0]; boots: string[]; is: object }[] = [
  { why: 'a start of the agent in the same boot keeps exits and their evidence', given: {}, boots: ['b1'], is: { healthyMs: 180_000, uncleanBoots: 0, exits: 2, evidence, mark: undefined, condemned: [] } },
  { why: 'a clean stop keeps health, and its mark is used up', given: { stopped: 'b1' }, boots: ['b2'], is: { healthyMs: 180_000, uncleanBoots: 0, exits: 0, mark: undefined, condemned: [] } },
  { why: 'a start of the agent in the boot that it left cleanly takes the mark back', given: { stopped: 'b1' }, boots: ['b1', 'b2'], is: { healthyMs: 0, uncleanBoots: 1, exits: 0, mark: undefined, condemned: [] } },
  { why: 'the boot that reaches the limit condemns', given: { before: 2 }, boots: ['b2'], is: { ...gone, condemned: ['the machine went down 3 times without a clean stop'] } },
  { why: 'content that is last known good is not condemned', given: { before: 2, trusted: true }, boots: ['b2'], is: { healthyMs: 0, uncleanBoots: 3, exits: 0, mark: undefined, condemned: [] } },
];
for (const { why, given, boots: ids, is } of boots)
  test(why, async () => {
    const { boot, seen } = await node(given);
    for (const id of ids) await boot(id);
    assert.deepEqual(await seen(), is);
  });

test('a start that dies at any write neither counts a boot twice nor forgets it', async () => {
  for (let at = 1, done = false; !done; at++) {
    const { fs, boot } = await node();
    const from = fs.changes;
    fs.fault = { kind: 'cut', at: from + at };
    await boot('b2');
    done = fs.changes < from + at;
    const after = fs.afterKill();
    fs.fault = undefined;
    const store = new FsStore({ disk: after.disk(), locks: memoryLocks(), root: ROOT, clock });
    const cleanStop = new CleanStop(after.disk(), layout(ROOT).cleanStop, silentLog);
    await countBoot({ store, cleanStop, options: { maxKubeletExits: 3 }, bootId: 'b2', clock, log: silentLog });
    const { uncleanBoots, healthyMs } = (await store.trial()) ?? {};
    assert.deepEqual({ uncleanBoots, healthyMs }, { uncleanBoots: 1, healthyMs: 0 }, `change ${at}`);
  }
});

// prettier-ignore
const condemnations: { why: string; fails?: string; does: string; retry?: string }[] = [
  { why: 'is written under the lock, then to the journal, and ends the trial', does: 'lock condemned unlock journal settled trial' },
  { why: 'is written without a lock that cannot be taken', fails: 'lock', does: 'condemned journal settled trial' },
  { why: 'needs no journal', fails: 'journal', does: 'lock condemned unlock settled trial' },
  { why: 'in memory alone keeps the trial, which goes on after a reboot', fails: 'settled', does: 'lock condemned unlock journal' },
  { why: 'holds where the trial cannot be removed', fails: 'trial', does: 'lock condemned unlock journal settled' },
  { why: 'needs no checkpoint', fails: 'load', does: 'lock condemned unlock journal settled trial', retry: '' },
];
for (const { why, fails, does, retry = '2' } of condemnations)
  test(`a condemnation ${why}`, async () => {
    const done: string[] = [];
    const written: CondemnedRecord[] = [];
    const step = async (what: string): Promise<void> => (what === fails ? assert.fail(what) : void done.push(what));
    const manifest = { annotations: { 'dkc.dev/retry': '2' } };
    const store = {
      record: async () => assert.fail('unreadable'),
      load: async () => (fails === 'load' ? assert.fail('unreadable') : { at: 'intact', checkpoint: { manifest } }),
      condemned: async () => [condemned(A), condemned(content('B'))],
      setCondemned: (all: CondemnedRecord[]) => step('condemned').then(() => void written.push(...all)),
      locked: async (change: () => Promise<void>) => [await step('lock'), await change(), await step('unlock')],
      addToJournal: () => step('journal'),
      settleCondemned: () => step('settled').then(() => true),
      setTrial: () => step('trial'),
    } as unknown as Store;
    const charge = { source: source('web@2'), content: A, reason: 'r', evidence };
    assert.equal(await condemn({ store, clock, log: silentLog }, charge), true);
    const [other, ...newest] = written.map((one) => `${one.resourceVersion} ${one.contentSha256} ${one.retry}`);
    assert.deepEqual([done.join(' '), other, newest], [does, `1 ${content('B').contentSha256} `, [`2 ${A.contentSha256} ${retry}`]]);
  });

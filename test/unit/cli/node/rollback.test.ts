import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assignedAndTrusted, kubeletYaml, nodeOnDisk, uidB } from '../../../support/node-on-disk.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';

interface Status {
  active: { resourceVersion: string } | null;
  lastKnownGood: { resourceVersion: string } | null;
  error: string | null;
  condemned: { resourceVersion: string; by: string; reason: string; contentSha256: string; kubeletConfigKey: string }[];
}

test('rollback condemns, journals, and prints the status with the reason', async (t) => {
  const { dkc, store, assigned } = await assignedAndTrusted(t);
  const ran = await dkc('rollback', '--reason=pods evicted', '-o', 'json');
  assert.equal(ran.code, 0);
  const status = JSON.parse(ran.stdout) as Status;
  assert.equal(status.error, statusErrors.rolledBack);
  assert.deepEqual(
    status.condemned.map(({ resourceVersion, by, reason }) => [resourceVersion, by, reason]),
    [['2', 'admin', 'pods evicted']],
  );
  assert.deepEqual(
    (await store.journal()).map(({ event, source, detail }) => ({ event, source, detail })),
    [{ event: 'rolled-back', source: assigned, detail: 'pods evicted' }],
  );
  assert.match(ran.stderr, /this node goes to dkc-system\/web:kubelet@1/);
  const again = await dkc('rollback');
  assert.equal(again.code, 0);
  assert.match(again.stderr, /is already condemned \(by admin, /);
  assert.equal((await store.condemned()).length, 1);
});

test('a rollback and a retry that the journal does not take are done all the same, and say so', async (t) => {
  const { dkcIn, store, paths } = await assignedAndTrusted(t);
  const append = (path: string): Promise<never> => Promise.reject(Object.assign(new Error(`EPERM ${path}`), { code: 'EPERM' }));
  const disk = { ...unsyncedDisk, append };
  for (const [command, condemned] of [
    ['rollback', 1],
    ['retry', 0],
  ] as const) {
    // prettier-ignore
    const { code, stderr } = await dkcIn({ disk }, command);
    assert.equal(code, 0, stderr);
    assert.ok(stderr.includes(`dkc: done, but it is missing in the journal: Cannot write ${paths.journal}`), stderr);
    assert.equal((await store.condemned()).length, condemned);
  }
});

test('rollback --to makes another checkpoint the last known good', async (t) => {
  const { dkc, save, store } = await assignedAndTrusted(t);
  const older = await save('7', { kubeletConfigKey: 'node.yaml', files: { 'node.yaml': kubeletYaml(90) } });
  const line = { at: '2026-01-01T00:00:00Z', event: 'promoted', source: older, detail: '' } as const;
  await store.addToJournal(line);
  assert.equal((await dkc('rollback', `--to=${older.uid}/7`, '-o', 'json')).code, 0);
  assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: older });
});

test('rollback --to a config that was never trusted needs --force, and assigns it instead of trusting it', async (t) => {
  const { dkc, save, store, trusted, assigned } = await assignedAndTrusted(t);
  const other = await save('7', { name: 'db', uid: uidB, files: { kubelet: kubeletYaml(90) } });
  const ran = await dkc('rollback', '--to=dkc-system/db');
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /dkc-system\/db:kubelet@7 was never trusted on this node; --force uses it anyway, on trial like any other\n/);
  assert.deepEqual(await store.condemned(), []);

  const dry = await dkc('rollback', '--to=dkc-system/db', '--force', '--dry-run');
  assert.equal(dry.code, 0);
  assert.equal(dry.stderr, 'dkc: dry run: this node goes to dkc-system/db:kubelet@7, on trial\n');
  assert.deepEqual([await store.condemned(), await store.journal()], [[], []]);

  const forced = await dkc('rollback', '--to=dkc-system/db', '--force', '--reason=try');
  assert.equal(forced.code, 0, forced.stderr);
  assert.match(forced.stdout, /^State: +pending: waiting for the agent$/m);
  assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: trusted });
  assert.deepEqual(await store.record('assigned'), { at: 'known', source: other });
  assert.deepEqual(
    (await store.journal()).map(({ event, source, detail }) => [event, source, detail]),
    [
      ['rolled-back', assigned, 'try; dkc-system/db:kubelet@7 is tried instead'],
      ['assigned', other, 'dkc rollback --to'],
    ],
  );
});

test('retry --wait of a config that is not the assigned one waits for nothing', async (t) => {
  const node = await assignedAndTrusted(t);
  await node.condemn(node.trusted);
  await node.condemn(node.assigned);
  const clock = { now: () => node.now(), monotonic: () => 0, after: () => () => {}, sleep: () => Promise.reject(new Error('it waits')) };
  const ran = await node.dkcIn({ clock }, 'retry', 'last-known-good', '--wait');
  assert.deepEqual([ran.code, ran.stderr], [0, 'dkc: dkc-system/web:kubelet@1 is no longer condemned\n']);
});

test('rollback --dry-run says where the node would go, and changes nothing', async (t) => {
  const { dkc, store } = await assignedAndTrusted(t);
  const ran = await dkc('rollback', '--dry-run');
  assert.deepEqual([ran.code, ran.stderr], [0, 'dkc: dry run: this node goes to dkc-system/web:kubelet@1\n']);
  assert.deepEqual([await store.condemned(), await store.journal()], [[], []]);
});

test('rollback --wait ends when the agent has applied it, and with 1 when it does not', async (t) => {
  const node = await assignedAndTrusted(t);
  let at = 0;
  const clock = { now: () => node.now(), monotonic: () => (at += 1000), after: () => () => {} };
  const late = await node.dkcIn({ clock: { ...clock, sleep: async () => {} } }, 'rollback', '--wait', '--timeout=30s');
  assert.equal(late.code, 1);
  assert.match(
    late.stderr,
    /dkc: timed out after 30s waiting for this node to use last-known-good \(dkc-system\/web:kubelet@1\): it uses assigned; the agent is not running: systemctl start dkc-agent\n$/,
  );
  // Stands in for the agent.
  const sleep = () => node.runs('last-known-good', node.trusted);
  const ran = await node.dkcIn({ clock: { ...clock, sleep } }, 'rollback', '--wait', '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal((JSON.parse(ran.stdout) as { state: string }).state, 'condemned');
  const back = await node.dkcIn({ clock: { ...clock, sleep: () => node.runs('assigned', node.assigned) } }, 'retry', '--wait');
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stderr, /web:kubelet@2 is no longer condemned/);
});

test('retry --wait goes on when an agent chose by what it had read before, and ends with 1 when a choice with an error stands', async (t) => {
  const node = await assignedAndTrusted(t);
  await node.condemn(node.assigned);
  await node.runs('last-known-good', node.trusted);
  let looks = 0;
  const chooses = (acts: readonly (() => Promise<void>)[]) => {
    let monotonic = 0;
    const left = [...acts];
    const sleep = async (): Promise<void> => {
      looks += 1;
      monotonic += 1_000;
      await left.shift()?.();
    };
    return { now: () => node.now(), monotonic: () => monotonic, after: () => () => {}, sleep };
  };
  const refused = (at: string) => () => node.runs('last-known-good', node.trusted, { error: 'the configuration is condemned', at });
  const arrives = () => node.runs('assigned', node.assigned);
  const started = refused('2026-01-01T00:01:00Z');
  const back = await node.dkcIn({ clock: chooses([started, started, arrives]) }, 'retry', '--wait');
  assert.deepEqual([back.code, looks], [0, 3], back.stderr);

  await node.condemn(node.assigned);
  await node.runs('last-known-good', node.trusted);
  looks = 0;
  const again = refused('2026-01-01T00:02:00Z');
  const stays = await node.dkcIn({ clock: chooses([started, again]) }, 'retry', '--wait', '--timeout=1m');
  assert.equal(stays.code, 1);
  assert.match(stays.stderr, /did not stay on assigned \(dkc-system\/web:kubelet@2\): it uses last-known-good.*; see Error and Next/);
  assert.equal(looks, 7, 'the second choice stands for 5 s');
});

const refused = [
  { why: 'a REF that fits several', argv: ['--to=8c1f'], code: 2, says: /matches 2 checkpoints/ },
  { why: 'a REF that fits none', argv: ['--to=zz'], code: 3, says: /no checkpoint has that name/ },
  { why: 'the assigned as --to', argv: ['--to=assigned'], code: 1, says: /being rolled back/ },
  { why: 'a key that is not there', argv: ['--to=last-known-good', '--key=x'], code: 1, says: /no key "x"/ },
];
for (const { why, argv, code, says } of refused) {
  test(`rollback refuses ${why}, and changes nothing`, async (t) => {
    const { dkc, store, trusted } = await assignedAndTrusted(t);
    const ran = await dkc('rollback', ...argv);
    assert.deepEqual([ran.code, ran.stdout], [code, '']);
    assert.match(ran.stderr, says);
    assert.deepEqual(await store.condemned(), []);
    assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: trusted });
    assert.deepEqual(await store.journal(), []);
  });
}

const unusable = [
  { why: 'a rule of the kubelet', text: 'maxPods: -1\n', settings: {}, names: /maxPods/ },
  { why: 'the field policy', text: 'cgroupDriver: systemd\n', settings: {}, names: /cgroupDriver/ },
  { why: 'its format', text: 'maxPods: many\n', settings: {}, names: /maxPods/ },
  { why: 'what lies over the local config', text: 'cgroupDriver: systemd\n', settings: { merge: 'overlay' }, names: /cgroupDriver/ },
];
for (const { why, text, settings, names } of unusable) {
  test(`rollback --to refuses what boot would refuse by ${why}, and says where the node goes when that is last-known-good`, async (t) => {
    const node = await nodeOnDisk(t, settings);
    const bad = await node.save('1', { files: { kubelet: `${kubeletYaml(1).replace(/maxPods.*\n/, '')}${text}` } });
    const assigned = await node.save('2');
    await node.assign(assigned);
    await node.runs('assigned', assigned);
    const ran = await node.dkc('rollback', `--to=${bad.uid}/1`, '--force');
    assert.deepEqual([ran.code, ran.stdout, ran.stderr.trimEnd().split('\n').length], [1, '', 1]);
    assert.match(ran.stderr, names);
    assert.ok(ran.stderr.startsWith(`dkc: Cannot roll back: --to ${bad.uid}/1: `), ran.stderr);
    assert.doesNotMatch(ran.stderr, /many|-1\b/);
    assert.deepEqual([await node.store.condemned(), await node.store.journal()], [[], []]);

    await node.trust(bad);
    const without = await node.dkc('rollback');
    assert.equal(without.code, 0);
    assert.match(without.stderr, /so this node reverts to its local config/);
    assert.match(without.stderr, names);
  });
}

test('rollback says that without a local config the effective file stays, and checks by the policy of this node', async (t) => {
  const node = await nodeOnDisk(t, { policy: 'none' });
  const other = await node.save('1', { files: { kubelet: `${kubeletYaml(60)}cgroupDriver: systemd\n` } });
  const assigned = await node.save('2');
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  await rm(node.localConfig);
  assert.match((await node.dkc('rollback')).stderr, /there is no last-known-good, so this node keeps its current effective file/);
  assert.match((await node.dkc('rollback', `--to=${other.uid}/1`, '--force')).stderr, /this node goes to dkc-system\/web:kubelet@1/);
});

test('with nothing assigned rollback has nothing to take back', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const ran = await dkc('rollback');
  assert.equal(ran.code, 1);
  assert.equal(ran.stderr, 'dkc: Cannot roll back: nothing is assigned: this node already runs its local config\n');
});

test('retry clears all or one, and says what it cleared', async (t) => {
  const { dkc, store, condemn, trusted, assigned } = await assignedAndTrusted(t);
  await condemn(trusted);
  await condemn(assigned, { by: 'admin' });
  const one = await dkc('retry', 'assigned', '-o', 'json');
  assert.equal(one.code, 0);
  assert.deepEqual(
    (JSON.parse(one.stdout) as Status).condemned.map((record) => record.resourceVersion),
    ['1'],
  );
  assert.match(one.stderr, /web:kubelet@2 is no longer condemned/);
  const again = await dkc('retry');
  assert.equal(again.code, 0);
  assert.match(again.stderr, /^dkc: dkc-system\/web:kubelet@2 is not condemned \(condemned: dkc-system\/web:kubelet@1\)\n/);
  assert.equal((await store.condemned()).length, 1);
  assert.equal((await dkc('retry', '--all')).code, 0);
  assert.deepEqual(await store.condemned(), []);
  assert.equal((await dkc('retry', '--all', 'assigned')).code, 2);
  assert.deepEqual(
    (await store.journal()).map((line) => [line.event, line.source]),
    [
      ['retried', assigned],
      ['retried', trusted],
    ],
  );
  assert.match((await dkc('retry')).stderr, /^dkc: Nothing to retry: no condemned configs\n/);
  assert.equal((await dkc('retry', 'zz')).code, 3);
  const several = await dkc('retry', '8c1f');
  assert.equal(several.code, 2);
  assert.match(several.stderr, /^dkc: REF 8c1f: it matches \d checkpoints/);
});

test('rollback and retry wait for the store lock, and do not break it', async (t) => {
  const { dkcIn, paths } = await assignedAndTrusted(t);
  const { memoryLocks } = await import('../../../support/memory-locks.ts');
  const locks = memoryLocks();
  const held = await locks.take(paths.storeLock, 0);
  const ran = await dkcIn({ locks }, 'rollback');
  assert.equal(ran.code, 3);
  assert.match(ran.stderr, /Cannot lock .*store\.lock: another process holds it/);
  await held.release();
  assert.equal((await dkcIn({ locks }, 'rollback')).code, 0);
});

test('a full or read-only disk is said with its remedy', async (t) => {
  const { dkcIn } = await assignedAndTrusted(t);
  const { unsyncedDisk } = await import('../../../support/unsynced-disk.ts');
  const readOnly = () => Promise.reject(Object.assign(new Error('EROFS'), { code: 'EROFS' }));
  const disk = { ...unsyncedDisk, replace: readOnly, append: readOnly };
  const ran = await dkcIn({ disk }, 'rollback');
  assert.equal(ran.code, 3);
  assert.match(ran.stderr, /read-only: find out why in the kernel log/);
  assert.equal((await dkcIn({ disk }, 'status')).code, 0);
});

test('history prints the newest N, oldest first', async (t) => {
  const { dkc, store } = await assignedAndTrusted(t);
  for (const n of [1, 2, 3])
    await store.addToJournal({ at: `2026-03-01T00:00:0${n}.000Z`, event: 'booted', source: null, detail: `boot ${n}` });
  const lines = JSON.parse((await dkc('history', '-n', '2', '-o', 'json')).stdout) as { detail: string }[];
  assert.deepEqual(
    lines.map((line) => line.detail),
    ['boot 2', 'boot 3'],
  );
  assert.deepEqual(Object.keys(lines[0] ?? {}), ['at', 'event', 'source', 'detail']);
  assert.equal((await dkc('history', '-n', '0', '-o', 'json')).stdout, '[]\n');
  assert.equal((await dkc('history', '-n', '0')).stdout, 'None of 3 lines shown.\n');
  assert.equal((await dkc('history')).stdout.trimEnd().split('\n').length, 4);
});

test('damaged records are shown by status and left alone', async (t) => {
  const { dkc, paths } = await assignedAndTrusted(t);
  await writeFile(paths.meta('assigned'), 'a: [');
  await writeFile(paths.active, '{');
  await writeFile(paths.trial, '{');
  const { code, stdout } = await dkc('status');
  assert.equal(code, 1);
  assert.match(stdout, /State: +unknown assignment \(record damaged\)/);
  assert.match(stdout, /Assigned: +unknown: its record is damaged/);
  for (const path of [paths.meta('assigned'), paths.active, paths.trial]) assert.ok(stdout.includes(`  ${path}: it is`), path);
  const json = JSON.parse((await dkc('status', '-o', 'json')).stdout) as { assigned: unknown; error: string };
  assert.deepEqual([json.assigned, json.error], [null, statusErrors.internal]);
});

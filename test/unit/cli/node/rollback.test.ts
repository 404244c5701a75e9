import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignedAndTrusted, kubeletYaml, uidB } from '../../../support/node-on-disk.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';

type Status = { error: string | null; condemned: { resourceVersion: string; by: string; reason: string }[] };

test('rollback condemns, journals, and prints the status with the reason', async (t) => {
  const { dkc, store, assigned } = await assignedAndTrusted(t);
  const ran = await dkc('rollback', '--reason=pods evicted', '-o', 'json');
  assert.equal(ran.code, 0);
  const status = JSON.parse(ran.stdout) as Status;
  assert.equal(status.error, statusErrors.rolledBack);
  assert.deepEqual(status.condemned.map(({ resourceVersion, by, reason }) => [resourceVersion, by, reason]), [['2', 'admin', 'pods evicted']]); // prettier-ignore
  const journal = (await store.journal()).map(({ event, source, detail }) => ({ event, source, detail }));
  assert.deepEqual(journal, [{ event: 'rolled-back', source: assigned, detail: 'pods evicted' }]);
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
  await store.addToJournal({ at: '2026-01-01T00:00:00Z', event: 'promoted', source: older, detail: '' });
  assert.equal((await dkc('rollback', `--to=${older.uid}/7`, '-o', 'json')).code, 0);
  assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: older });
});

test('rollback --to a config that was never trusted assigns it with --force, instead of trusting it', async (t) => {
  const { dkc, save, store, trusted, assigned } = await assignedAndTrusted(t);
  const other = await save('7', { name: 'db', uid: uidB, files: { kubelet: kubeletYaml(90) } });
  const forced = await dkc('rollback', '--to=dkc-system/db', '--force', '--reason=try');
  assert.equal(forced.code, 0, forced.stderr);
  assert.match(forced.stdout, /^State: +pending: waiting for the agent$/m);
  assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: trusted });
  assert.deepEqual(await store.record('assigned'), { at: 'known', source: other });
  const journal = (await store.journal()).map(({ event, source, detail }) => ({ event, source, detail }));
  assert.deepEqual(journal, [
    { event: 'rolled-back', source: assigned, detail: 'try; dkc-system/db:kubelet@7 is tried instead' },
    { event: 'assigned', source: other, detail: 'dkc rollback --to' },
  ]);
});

test('rollback --wait ends when the agent has applied it, and with 1 when it does not', async (t) => {
  const node = await assignedAndTrusted(t);
  let at = 0;
  const clock = { now: () => node.now(), monotonic: () => (at += 1000), after: () => () => {} };
  const late = await node.dkcIn({ clock: { ...clock, sleep: async () => {} } }, 'rollback', '--wait', '--timeout=30s');
  assert.equal(late.code, 1);
  assert.match(late.stderr, /dkc: timed out after 30s waiting for this node to use last-known-good \(dkc-system\/web:kubelet@1\): it uses assigned; the agent is not running: systemctl start dkc-agent\n$/); // prettier-ignore
  // Stands in for the agent.
  const sleep = () => node.runs('last-known-good', node.trusted);
  const ran = await node.dkcIn({ clock: { ...clock, sleep } }, 'rollback', '--wait', '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal((JSON.parse(ran.stdout) as { state: string }).state, 'condemned');
  const back = await node.dkcIn({ clock: { ...clock, sleep: () => node.runs('assigned', node.assigned) } }, 'retry', '--wait');
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stderr, /web:kubelet@2 is no longer condemned/);
});

test('retry clears all or one, and says what it cleared', async (t) => {
  const { dkc, store, condemn, trusted, assigned } = await assignedAndTrusted(t);
  await condemn(trusted);
  await condemn(assigned, { by: 'admin' });
  const one = await dkc('retry', 'assigned', '-o', 'json');
  assert.equal(one.code, 0);
  assert.deepEqual((JSON.parse(one.stdout) as Status).condemned.map((record) => record.resourceVersion), ['1']); // prettier-ignore
  assert.match(one.stderr, /web:kubelet@2 is no longer condemned/);
  const again = await dkc('retry');
  assert.equal(again.code, 0);
  assert.match(again.stderr, /^dkc: dkc-system\/web:kubelet@2 is not condemned \(condemned: dkc-system\/web:kubelet@1\)\n/);
  assert.equal((await store.condemned()).length, 1);
  assert.equal((await dkc('retry', '--all')).code, 0);
  assert.deepEqual(await store.condemned(), []);
  assert.deepEqual((await store.journal()).map(({ event, source }) => ({ event, source })), [{ event: 'retried', source: assigned }, { event: 'retried', source: trusted }]); // prettier-ignore
});

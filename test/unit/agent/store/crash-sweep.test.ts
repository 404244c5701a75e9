import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrashDisk, type Forgotten } from '../../../support/crash-disk.ts';
import { sweepCrashes } from './crash-sweep.ts';
import { livedIn, openStore, paths, payload, source, storeChanges } from './store-changes.ts';

for (const change of storeChanges) {
  test(`${change.why}: no fault and no power cut loses or tears anything`, async (t) => {
    const { disks, violations } = await sweepCrashes(change);
    t.diagnostic(`${disks} different disks`);
    assert.ok(disks > 2);
    assert.deepEqual(violations.slice(0, 10), []);
  });
}

test('files that upstream never synced are synced before a manifest vouches for them', async () => {
  const disk = new CrashDisk();
  const store = openStore(disk);
  await livedIn(store);
  const dir = paths.checkpoint(source('u'));
  await disk.mkdir(paths.uidDir('u'), 0o755);
  await disk.mkdir(dir, 0o700);
  for (const [key, bytes] of payload(source('u'), 'u').files) await (await disk.open(`${dir}/${key}`, 'create')).write(bytes);
  await store.save(payload(source('u'), 'u'));
  for (const left of disk.afterPowerCut(50, 1)) assert.equal((await openStore(left).load(source('u'))).at, 'intact');
});

// The sweep is only worth what it can find: with one sync left out of the durable code it has to find something wrong.
const anyFile: Forgotten = (kind) => kind === 'file';
const anyDir: Forgotten = (kind) => kind === 'dir';
const brokenBy: readonly { change: string; forgotten: Forgotten; of: string }[] = [
  { change: 'setRecord assigned', forgotten: anyFile, of: 'files' },
  { change: 'save a second version', forgotten: (_, path) => path.endsWith('/ca.crt'), of: 'one file of a checkpoint' },
  { change: 'removeCheckpoint', forgotten: anyDir, of: 'directories' },
];

for (const { change, forgotten, of } of brokenBy) {
  test(`${change}: a forgotten sync of ${of} is found`, async (t) => {
    const found = storeChanges.find(({ why }) => why === change);
    assert.ok(found);
    const { violations } = await sweepCrashes(found, forgotten);
    t.diagnostic(`${violations.length} violations, the first: ${violations[0]}`);
    assert.ok(violations.length > 0);
  });
}

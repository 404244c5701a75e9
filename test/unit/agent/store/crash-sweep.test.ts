import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forgotten } from '../../../support/crash-disk.ts';
import { sweepCrashes } from './crash-sweep.ts';
import { storeChanges } from './store-changes.ts';

for (const change of storeChanges)
  test(`${change.why}: no fault and no power cut loses or tears anything`, async (t) => {
    const { disks, violations } = await sweepCrashes(change);
    t.diagnostic(`${disks} different disks`);
    assert.ok(disks > 2);
    assert.deepEqual(violations.slice(0, 10), []);
  });

// The sweep is only worth what it can find: with one sync left out of the durable code it has to find something wrong.
const anyFile: Forgotten = (kind) => kind === 'file';
const anyDir: Forgotten = (kind) => kind === 'dir';
const brokenBy: readonly { change: string; forgotten: Forgotten; of: string }[] = [
  { change: 'setRecord assigned', forgotten: anyFile, of: 'files' },
  { change: 'save a second version', forgotten: (_, path) => path.endsWith('/ca.crt'), of: 'one file of a checkpoint' },
  { change: 'removeCheckpoint', forgotten: anyDir, of: 'directories' },
];

for (const { change, forgotten, of } of brokenBy)
  test(`${change}: a forgotten sync of ${of} is found`, async (t) => {
    const found = storeChanges.find(({ why }) => why === change);
    assert.ok(found);
    const { violations } = await sweepCrashes(found, forgotten);
    t.diagnostic(`${violations.length} violations, the first: ${violations[0]}`);
    assert.ok(violations.length > 0);
  });

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { bootOn } from '../../../support/boot-on-disk.ts';
import { kubeletYaml, nodeOnDisk } from '../../../support/node-on-disk.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import type { BootOutcome } from '../../../../agent/boot/plan.ts';

/** A node, a boot of it, and the paths that the last boot read. */
async function bootable(t: TestContext) {
  const node = await nodeOnDisk(t);
  let read: string[] = [];
  const disk = {
    ...unsyncedDisk,
    read: (path: string, limit?: number) => {
      read.push(path);
      return unsyncedDisk.read(path, limit);
    },
  };
  const boot = (): Promise<BootOutcome> => {
    read = [];
    return bootOn(node, disk);
  };
  return { node, boot, read: () => read };
}

test('a file that names its siblings stays when only the version of its content is new', async (t) => {
  const { node, boot } = await bootable(t);
  const files = { kubelet: `${kubeletYaml(120)}authentication: {x509: {clientCAFile: ca.crt}}\n`, 'ca.crt': 'a certificate' };
  await node.assign(await node.save('1', { files }));
  const first = await boot();
  assert.equal(first.effective.changed, true);
  await node.assign(await node.save('2', { files }));
  const second = await boot();
  assert.deepEqual([second.effective.changed, second.effective.sha256], [false, first.effective.sha256]);
  await node.assign(await node.save('3', { files: { ...files, 'ca.crt': 'another certificate' } }));
  assert.equal((await boot()).effective.changed, true);
});

test('a config that renders the same anywhere costs no look at the rest of the store', async (t) => {
  const { node, boot, read } = await bootable(t);
  for (const rv of ['1', '2', '3']) await node.save(rv);
  const trusted = await node.save('4');
  await node.trust(trusted);
  await node.assign(trusted);
  await boot();
  await node.assign(await node.save('5'));
  assert.equal((await boot()).effective.changed, true);
  const versions = read().flatMap((path) => /\/checkpoints\/[^/]+\/([^/]+)\//.exec(path)?.[1] ?? []);
  assert.deepEqual([...new Set(versions)].toSorted(), ['4', '5']);
});

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readHost } from '../../../agent/host/host.ts';
import { realDisk } from '../../../base/disk.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { config, HandMadeNode } from './boot/hand-made-store.ts';

test('a local config that is a link counts as what it links to', async (t) => {
  const node = await HandMadeNode.make(t);
  await rename(node.local, join(node.dir, 'elsewhere.yaml'));
  await symlink('../elsewhere.yaml', node.local);
  assert.equal((await node.boot()).used, 'local');
  assert.equal(await node.effective(), config('maxPods: 110'));
});

test('a file that a config names may be a link; one that leads nowhere is a missing file', async (t) => {
  const dir = await tempDir(t);
  symlinkSync('/proc/self/status', join(dir, 'ca'));
  symlinkSync('none', join(dir, 'nowhere'));
  const host = await readHost(realDisk, { tlsCertFile: join(dir, 'ca'), tlsPrivateKeyFile: join(dir, 'nowhere') });
  assert.deepEqual(Object.values(host.paths ?? {}), ['file', 'missing']);
});

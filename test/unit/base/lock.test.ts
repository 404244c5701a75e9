import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { flock, flockLocks, LockError } from '../../../base/lock.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('a lock keeps everybody else out until it is released', async (t) => {
  const path = join(await tempDir(t), 'lock');
  const first = await flock.take(path, 0);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await assert.rejects(flock.take(path, 0), (error) => {
    assert.ok(error instanceof LockError && error.path === path && error.cause === undefined);
    return /another process holds it/.test(error.message);
  });
  await assert.rejects(flock.take(path, 50), LockError);
  const waiting = flock.take(path, 60_000);
  await first.release();
  await first.release();
  await using second = await waiting;
  assert.ok(second);
});

test('a lock file that was removed while we waited is not the lock any more', async (t) => {
  const dir = await tempDir(t);
  const path = join(dir, 'lock');
  const announcing = join(dir, 'announcing-flock');
  writeFileSync(announcing, `#!/bin/sh\n: > '${join(dir, 'waits')}'\nexec flock "$@"\n`);
  chmodSync(announcing, 0o755);
  const watcher = watch(dir);
  t.after(() => watcher.close());
  const waits = new Promise<void>((resolve) => watcher.on('change', (_, name) => name === 'waits' && resolve()));

  const old = await flock.take(path, 0);
  const waiting = flockLocks(announcing).take(path, 60_000);
  await waits; // from here on it has the old file open
  rmSync(path);
  const newer = await flock.take(path, 0);
  await old.release();
  await newer.release();
  await using taken = await waiting;
  assert.ok(taken);
  await assert.rejects(flock.take(path, 0), LockError);
});

test('what stands in the way is named with its remedy', async (t) => {
  const dir = await tempDir(t);
  const path = join(dir, 'lock');
  await assert.rejects(
    flockLocks('/no/such/flock').take(path, 0),
    /Cannot lock .*lock: the program \/no\/such\/flock is missing: install the package util-linux/,
  );
  await assert.rejects(flock.take(join(dir, 'none', 'lock'), 0), (error) => error instanceof LockError && error.cause !== undefined);
  symlinkSync(path, join(dir, 'link'));
  await assert.rejects(flock.take(join(dir, 'link'), 0), /a symbolic link is in its place: move that away/);
  await assert.rejects(flock.take(dir, 0), /a directory is in its place: move that away/);
  const broken = join(dir, 'broken');
  writeFileSync(broken, '#!/bin/sh\necho "no such thing" >&2\nexit 64\n');
  chmodSync(broken, 0o755);
  await assert.rejects(flockLocks(broken).take(path, 0), /exited with status 64: no such thing/);
  assert.equal(readFileSync(path, 'utf8'), '');
});

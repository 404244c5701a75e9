import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { realDisk, type Stat } from '../../../base/disk.ts';
import { silentLog } from '../../../base/log.ts';
import { fileWatcher, FreshFile } from '../../../base/changing-files.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp-dir.ts';

// Files that no kernel watches: there is no such directory. What the poll sees is up to the test.
test('a watcher that the kernel tells nothing polls', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  const told: string[] = [];
  const stats: Record<string, Stat | undefined> = {};
  const file = (bytes: number, modifiedMs: number): Stat => ({ kind: 'file', bytes, mode: 0o600, modifiedMs });
  const [a, b] = ['/no/such/directory/a', '/no/such/directory/b'];
  let failing = false;
  const stat = async (path: string): Promise<Stat | undefined> => {
    if (failing) throw new Error('EIO');
    return stats[path];
  };
  stats[a] = file(1, 1);
  const watching = fileWatcher({ stat, realPath: async (path) => path }, clock, silentLog)([a, b], (path) => told.push(path), end.signal);
  while (clock.sleepers === 0) await atRest();
  const polls = async (expected: string[], why: string): Promise<void> => {
    await clock.advance(10_000);
    assert.deepEqual(told.splice(0), expected, why);
  };
  await polls([], 'what was there before is no change');
  stats[a] = file(2, 1);
  await clock.advance(9999);
  assert.deepEqual(told, [], 'ten seconds are not over');
  await clock.advance(1);
  assert.deepEqual(told.splice(0), [a], 'another size');
  await polls([], 'told once');
  stats[a] = file(2, 2);
  stats[b] = file(0, 0);
  await polls([a, b], 'another time, and a file that was not there');
  stats[a] = { ...file(2, 2), kind: 'other' };
  await polls([a], 'another kind');
  delete stats[b];
  await polls([b], 'a file that is gone');
  failing = true;
  await polls([a], 'a file that cannot be looked at counts as gone');
  failing = false;
  await polls([a], 'and comes back');
  end.abort();
  await watching;
  await fileWatcher(realDisk, clock, silentLog)([a], () => assert.fail('told'), end.signal);
  assert.equal(clock.sleepers, 0, 'one that is to end before it begins watches nothing');
});

test('a watcher tells of a file behind links when one of them is swapped, and when it is edited where it lies', async (t) => {
  const dir = await tempDir(t);
  const [path, clock, end, told] = [join(dir, 'config.yaml'), new FakeClock(), new AbortController(), [] as string[]];
  for (const version of ['v1', 'v2', 'v3']) {
    await mkdir(join(dir, version));
    await writeFile(join(dir, version, 'config.yaml'), 'same');
    await utimes(join(dir, version, 'config.yaml'), 1_700_000_000, 1_700_000_000);
  }
  const swap = async (to: string): Promise<void> => {
    await symlink(to, join(dir, '..next'));
    await rename(join(dir, '..next'), join(dir, '..data'));
  };
  await swap('v1');
  await symlink('..data/config.yaml', path);
  const watching = fileWatcher(realDisk, clock, silentLog)([path], (one) => told.push(one), end.signal);
  const polls = async (): Promise<boolean> => {
    while (clock.sleepers === 0) await nextTurn();
    await clock.advance(10_000);
    while (clock.sleepers === 0) await nextTurn();
    return told.splice(0).includes(path);
  };
  assert.equal(await polls(), false);
  for (const does of [() => swap('v2'), () => writeFile(join(dir, 'v2', 'config.yaml'), 'edited'), () => swap('v3'), () => rm(path)]) {
    await does();
    assert.equal(await polls(), true, String(does));
  }
  end.abort();
  await watching;
});

test('a fresh file is read again once another one is in its place, of the same time and size', async (t) => {
  const path = join(await tempDir(t), 'token');
  const time = new Date(1_700_000_000_000);
  const put = async (text: string): Promise<void> => {
    await writeFile(`${path}.next`, text);
    await utimes(`${path}.next`, time, time);
    await rename(`${path}.next`, path);
  };
  const file = new FreshFile(path, 'token file');
  await put('one');
  assert.equal(await file.text(), 'one');
  await put('two');
  assert.equal(await file.text(), 'two');
});

test('a fresh file keeps its last text while there is none, and names the file where there never was one', async (t) => {
  const path = join(await tempDir(t), 'token');
  const file = new FreshFile(path, 'token file');
  await assert.rejects(file.text(), { name: 'ActionError', message: `Cannot read token file ${path}: no such file; correct the path` });
  await writeFile(path, 'one');
  assert.equal(await file.text(), 'one');
  await writeFile(path, ' ');
  assert.equal(await file.text(), 'one');
  await rm(path);
  assert.equal(await file.text(), 'one');
});

test('a fresh file of more than 4 MiB is not read', async (t) => {
  const path = join(await tempDir(t), 'config');
  await writeFile(path, '');
  await truncate(path, 4 * 1024 * 1024 + 1);
  await assert.rejects(new FreshFile(path, 'kubeconfig').text(), { message: /it has 4194305 bytes, the limit is 4194304/ });
});

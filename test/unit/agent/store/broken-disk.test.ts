import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { StoreError } from '../../../../agent/store/store.ts';
import { CrashDisk, type Fault } from '../../../support/crash-disk.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { condemned, line, livedIn, openStore, payload, paths, ROOT, source } from './store-changes.ts';

async function lived(): Promise<CrashDisk> {
  const disk = new CrashDisk();
  await livedIn(openStore(disk));
  return disk.settled();
}

const broken: { kind: Fault['kind']; why: string; remedy: RegExp }[] = [
  { kind: 'EROFS', why: 'a read-only disk', remedy: /file system is read-only: .*remount/ },
  { kind: 'ENOSPC', why: 'a full disk', remedy: /disk is full: make room/ },
];
for (const { kind, why, remedy } of broken) {
  test(`${why}: all is read, and every change says where and what to do`, async () => {
    const disk = await lived();
    disk.fault = { kind, at: 1 };
    const store = new FsStore({ disk: disk.disk(), locks: memoryLocks(), root: ROOT, clock: { now: () => 0 } });
    assert.equal(await store.initialize(), false);
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: source('a') });
    assert.equal((await store.load(source('a'))).at, 'intact');
    const changes: [string, () => Promise<unknown>][] = [
      [paths.meta('assigned'), () => store.setRecord('assigned', source('b'))],
      [paths.checkpoint(source('c')), () => store.save(payload(source('c'), 'c'))],
      [paths.condemned, () => store.setCondemned([condemned('z')])],
    ];
    for (const [path, change] of changes) {
      await assert.rejects(change, (error) => {
        assert.ok(error instanceof StoreError && error.cause !== undefined, String(error));
        assert.equal(error.path, path);
        assert.match(error.message, remedy);
        return true;
      });
    }
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: source('a') });
    if (kind === 'EROFS') await assert.rejects(store.addToJournal(line('x')), StoreError);
  });
}

test('what a disk does not give stays in its place, and counts as damaged after a minute of that', async () => {
  const disk = await lived();
  let now = 0;
  // Node.js has no name for most of what a file system says.
  const gone = Object.assign(new Error('stale'), { code: 'Unknown system error -116' });
  const unread = {
    ...disk.disk(),
    read: (path: string) => (path.startsWith(paths.metaDir) ? Promise.reject(gone) : disk.disk().read(path)),
  };
  const store = new FsStore({ disk: unread, locks: memoryLocks(), root: ROOT, clock: { now: () => now } });
  for (const at of [0, 59_999]) {
    now = at;
    await assert.rejects(store.condemned(), /condemned\.json: its network file system has lost it/);
  }
  const record = await store.record('last-known-good');
  assert.ok(record.at === 'damaged' && record.isUnread);
  await assert.rejects(store.removeCheckpoint(source('b')), /Cannot read .*assigned/);
  const names = await disk.disk().list(paths.metaDir);
  assert.deepEqual(names.filter((name) => name.includes('.damaged-')), []); // prettier-ignore
  now = 60_000;
  assert.deepEqual(await store.condemned(), []);
  assert.equal((await disk.disk().list(paths.metaDir)).filter((name) => name.startsWith('condemned.json.damaged-')).length, 1);
});

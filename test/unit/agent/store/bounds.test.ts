import assert from 'node:assert/strict';
import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { condemnedText, journalText, MAX_CONDEMNED } from '../../../../agent/store/records.ts';
import { contentRef, digestFiles } from '../../../../agent/checkpoint/payload.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { StoreError, type CondemnedRecord } from '../../../../agent/store/store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import { ROOT, condemned, line, livedIn, openStore, paths, payload, source } from './store-changes.ts';
import { CrashDisk, type Fault } from '../../../support/crash-disk.ts';

const MIB = 1024 * 1024;

async function emptyStore(t: TestContext) {
  const damage: string[] = [];
  const root = join(await tempDir(t), 'dkc');
  const onDamage = (_: string, problem: string): void => void damage.push(problem);
  const store = new FsStore({ disk: unsyncedDisk, locks: memoryLocks(), root, clock: new FakeClock(), onDamage });
  await store.initialize();
  const bytes = async (path: string): Promise<number> => (await stat(path)).size;
  return { store, damage, bytes, paths: store.paths };
}

const numbered = (n: number, over: Partial<CondemnedRecord> = {}): CondemnedRecord => ({ ...condemned(`u${n}`), contentSha256: n.toString(16).padStart(64, '0'), ...over }); // prettier-ignore
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const uids = (records: readonly CondemnedRecord[]) => records.map(({ uid }) => uid);

test('the newest condemnations are kept, and those of what is assigned and trusted however old they are', async (t) => {
  const { store } = await emptyStore(t);
  const of = [source('a'), source('b')] as const;
  for (const one of of) await store.save(payload(one, one.uid));
  await store.setRecord('assigned', of[0]);
  await store.setRecord('last-known-good', of[1]);
  const old = of.map((one, n) => numbered(n, contentRef(digestFiles(payload(one, one.uid).files), 'kubelet')));
  const all = [...old, ...range(2, 700).map((n) => numbered(n))];
  await store.setCondemned(all.slice(0, MAX_CONDEMNED));
  assert.equal((await store.condemned()).length, MAX_CONDEMNED);
  await store.setCondemned(all);
  assert.deepEqual(uids(await store.condemned()), uids([...old, ...all.slice(2 - MAX_CONDEMNED)]));
});

test('a condemned.json that is too large to be read is not forgotten: its newest records count, which is told once', async (t) => {
  const { store, damage, bytes, paths } = await emptyStore(t);
  await writeFile(paths.condemned, condemnedText(range(0, 30_000).map((n) => numbered(n))));
  const kept = await store.condemned();
  assert.deepEqual([kept.length > 100, kept.at(-1)?.uid], [true, 'u29999']);
  assert.deepEqual(damage, [`it is too large: only the newest ${kept.length} condemnations in it count, and are kept`]);
  assert.ok((await bytes(paths.condemned)) < 2 * MIB);
  assert.deepEqual(uids(await store.condemned()), uids(kept).slice(-MAX_CONDEMNED));
});

/** A file of this size whose end is `text`; what is before takes no room on the disk. */
async function endingWith(path: string, bytes: number, text: string): Promise<void> {
  const file = await open(path, 'w');
  await file.write(`\n${text}`, bytes - text.length - 1);
  await file.close();
}

test('a journal of a gigabyte gives its newest lines, and is cut back to them by the next one', async (t) => {
  const { store, damage, bytes, paths } = await emptyStore(t);
  const newest = range(0, 50).map((n) => line(`line ${n}`));
  await endingWith(paths.journal, 1024 * MIB, newest.map(journalText).join(''));
  assert.deepEqual(await store.journal(), newest);
  await store.addToJournal(line('one more'));
  assert.deepEqual(await store.journal(), [...newest, line('one more')]);
  assert.deepEqual([(await bytes(paths.journal)) < MIB, damage], [true, []]);
});

test('condemnations that the disk does not give are forgotten after a minute, however the wall clock is set', async (t) => {
  const clock = new FakeClock();
  const { root } = (await emptyStore(t)).paths;
  const read = () => Promise.reject(Object.assign(new Error('input/output error'), { code: 'EIO' }));
  const store = new FsStore({ disk: { ...unsyncedDisk, read }, locks: memoryLocks(), root, clock });
  await assert.rejects(store.condemned(), /Cannot read/);
  clock.jump(7_200_000);
  await assert.rejects(store.condemned(), /Cannot read/);
  clock.jump(-86_400_000);
  await clock.advance(60_000);
  assert.deepEqual(await store.condemned(), []);
});

async function lived(): Promise<CrashDisk> {
  const disk = new CrashDisk();
  await livedIn(openStore(disk));
  return disk.settled();
}

const broken: { kind: Fault['kind']; why: string; remedy: RegExp }[] = [
  { kind: 'EROFS', why: 'a read-only disk', remedy: /file system is read-only: .*remount/ },
  { kind: 'ENOSPC', why: 'a full disk', remedy: /disk is full: make room/ },
];
for (const { kind, why, remedy } of broken)
  test(`${why}: all is read, and every change says where and what to do`, async () => {
    const disk = await lived();
    disk.plant(paths.trial, 'rubbish');
    disk.fault = { kind, at: 1 };
    const damage: string[] = [];
    const parts = { disk: disk.disk(), locks: memoryLocks(), root: ROOT, clock: new FakeClock() };
    const store = new FsStore({ ...parts, onDamage: (path) => void damage.push(path) });
    assert.deepEqual([await store.trial(), await store.trial(), damage], [undefined, undefined, [paths.trial]], 'told once');
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

import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { activePath } from '../../../../agent/admin/observe.ts';
import { ActiveRecordWriter } from '../../../../agent/status/active-record-writer.ts';
import { parseActiveRecord } from '../../../../agent/store/active-record.ts';
import { silentLog } from '../../../../base/log.ts';
import { CrashDisk } from '../../../support/crash-disk.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { assignedSituation } from '../../../support/situations.ts';

const PATH = '/var/lib/dkc/store/meta/active.json';
const volatilePath = '/run/dkc/active.json';

test('a store that another node began is said to be', async () => {
  let text: string | undefined;
  const disk = {
    read: async (path: string) => new TextEncoder().encode((path === PATH ? text : undefined) ?? assert.fail('ENOENT')),
    replace: async (path: string, bytes: Uint8Array) => {
      assert.equal(path, PATH);
      text = new TextDecoder().decode(bytes);
    },
    remove: async () => assert.fail('nothing is in memory'),
  };
  const noticesOf = async (nodeName: string) => {
    const deps = { disk, clock: new FakeClock(), log: silentLog, path: PATH, volatilePath, configState: assignedSituation(), nodeName };
    const memo = new ActiveRecordWriter(deps);
    memo.note();
    await memo.settled();
    const read = parseActiveRecord(text ?? '');
    assert.ok(read.ok);
    return read.record.notices;
  };
  assert.equal(await noticesOf('node-a'), undefined);
  const [notice] = (await noticesOf('node-b')) ?? [];
  assert.equal(notice?.about, 'store');
  assert.match(notice?.text ?? '', /created by node node-a, and this is node node-b: .* remove \/var\/lib\/dkc\/store\/meta\/active\.json/);
});

test('while the disk is full the record is in memory, where dkc status finds it, and goes back to the disk with the next note', async () => {
  const dynamicConfigDir = '/var/lib/dkc';
  const disk = new CrashDisk();
  for (const dir of [dirname(PATH), dirname(volatilePath)]) await disk.disk().makeDir(dir, 0o700);
  const full = { ...disk.disk(), replace: async (path: string, bytes: Uint8Array) => (path === PATH && isFull ? assert.fail('ENOSPC') : disk.disk().replace(path, bytes)) }; // prettier-ignore
  let isFull = true;
  const memo = new ActiveRecordWriter({ disk: full, clock: new FakeClock(), log: silentLog, path: PATH, volatilePath, configState: assignedSituation(), nodeName: 'node-a' }); // prettier-ignore
  const shown = () => activePath({ disk: full, dynamicConfigDir, kubeletExits: '/run/dkc/kubelet-exits' });
  memo.notice('sync', 'the disk is full');
  await memo.settled();
  assert.equal(await shown(), volatilePath);
  assert.match(new TextDecoder().decode(await full.read(volatilePath)), /the disk is full/);
  isFull = false;
  memo.note();
  await memo.settled();
  assert.equal(await shown(), PATH);
  assert.match(new TextDecoder().decode(await full.read(PATH)), /the disk is full/);
});

test('while the disk hangs the record is in memory, and goes back to the disk once that has returned', async () => {
  const files = new Map<string, string>();
  const hangs = Promise.withResolvers<void>();
  const disk = {
    read: async (path: string) => new TextEncoder().encode(files.get(path) ?? assert.fail('ENOENT')),
    replace: async (path: string, bytes: Uint8Array) => {
      if (path === PATH) await hangs.promise;
      files.set(path, new TextDecoder().decode(bytes));
    },
    remove: async (path: string) => void files.delete(path),
  };
  const clock = new FakeClock();
  const memo = new ActiveRecordWriter({ disk, clock, log: silentLog, path: PATH, volatilePath, configState: assignedSituation(), nodeName: 'node-a' }); // prettier-ignore
  memo.notice('disk', 'it is slow');
  await clock.advance(15_000);
  memo.notice('disk', 'it hangs');
  await memo.settled();
  assert.deepEqual([...files.keys()], [volatilePath]);
  assert.match(files.get(volatilePath) ?? '', /it hangs/);
  hangs.resolve();
  await clock.advance(0);
  await memo.settled();
  assert.deepEqual([...files.keys()], [PATH]);
  assert.match(files.get(PATH) ?? '', /it hangs/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActiveRecordWriter } from '../../../../agent/status/active-record-writer.ts';
import { parseActiveRecord, type ActiveRecord } from '../../../../agent/store/active-record.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { assignedSituation } from '../../../support/situations.ts';

const PATH = '/var/lib/dkc/store/meta/active.json';
const START = '2026-03-01T00:00:00.000Z';

/** A memo on a disk that is one file, and fails as long as `full` is set. */
function kept(before?: string, nodeName = 'node-a') {
  const clock = new FakeClock(START);
  const { log, lines } = recordedLog();
  const file = { text: before, full: false };
  const disk = {
    read: async () => new TextEncoder().encode(file.text ?? assert.fail('ENOENT')),
    replace: async (path: string, bytes: Uint8Array) => {
      assert.equal(path, PATH);
      if (file.full) throw new Error('ENOSPC');
      file.text = new TextDecoder().decode(bytes);
    },
  };
  const configState = assignedSituation();
  const memo = new ActiveRecordWriter({ disk, clock, log, path: PATH, configState, nodeName });
  const record = (): ActiveRecord => {
    const read = parseActiveRecord(file.text ?? '');
    assert.ok(read.ok);
    return read.record;
  };
  return { memo, configState, clock, file, record, lines };
}

test('a store that another node began is said to be', async () => {
  const begun = kept();
  begun.memo.note();
  await begun.memo.settled();
  assert.equal(begun.record().notices, undefined);
  const copied = kept(begun.file.text, 'node-b');
  copied.memo.note();
  await copied.memo.settled();
  const [notice] = copied.record().notices ?? [];
  assert.equal(notice?.about, 'store');
  assert.match(notice?.text ?? '', /begun by node node-a, and this is node node-b: .* remove \/var\/lib\/dkc\/store\/meta\/active\.json/);
});

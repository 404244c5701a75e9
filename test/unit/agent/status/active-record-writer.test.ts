import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActiveRecordWriter } from '../../../../agent/status/active-record-writer.ts';
import { parseActiveRecord } from '../../../../agent/store/active-record.ts';
import { silentLog } from '../../../../base/log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { assignedSituation } from '../../../support/situations.ts';

const PATH = '/var/lib/dkc/store/meta/active.json';

test('a store that another node began is said to be', async () => {
  let text: string | undefined;
  const disk = {
    read: async () => new TextEncoder().encode(text ?? assert.fail('ENOENT')),
    replace: async (path: string, bytes: Uint8Array) => {
      assert.equal(path, PATH);
      text = new TextDecoder().decode(bytes);
    },
  };
  const noticesOf = async (nodeName: string) => {
    const deps = { disk, clock: new FakeClock(), log: silentLog, path: PATH, configState: assignedSituation(), nodeName };
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseActiveRecord, printActiveRecord, sameActive, sinceBefore, type ActiveRecord } from '../../../../agent/store/active-record.ts';

const record: ActiveRecord = {
  used: 'assigned',
  source: { namespace: 'ns', name: 'web', uid: 'u1', resourceVersion: '7', kubeletConfigKey: 'kubelet' },
  error: null,
  effectiveSha256: 'abc',
  carrier: 'node',
  why: 'the API server keeps spec.configSource',
  at: '2026-01-01T00:00:00.000Z',
};

test('an active record reads back as it was written', () => {
  for (const one of [record, { ...record, used: 'local' as const, source: null, carrier: null, error: 'failed' }]) {
    assert.deepEqual(parseActiveRecord(printActiveRecord(one)), { ok: true, record: one });
  }
});

test('drift is kept, one of each kind that is known', () => {
  const drift = [{ kind: 'NotUsed', detail: 'd', since: 's' }] as const;
  assert.deepEqual(parseActiveRecord(printActiveRecord({ ...record, drift })), { ok: true, record: { ...record, drift } });
  const others = [{ kind: 'OfTomorrow', detail: '', since: '' }, { kind: 'KubeletDiffers', detail: 3, since: '' }, null, ...drift, { ...drift[0], detail: 'more' }]; // prettier-ignore
  assert.deepEqual(parseActiveRecord(JSON.stringify({ ...record, drift: others })), { ok: true, record: { ...record, drift } });
  assert.ok(!sameActive(record, { ...record, drift }));
});

const bad: [string, unknown][] = [
  ['an unknown use', { ...record, used: 'best' }],
  ['half a source', { ...record, source: { ...record.source, uid: '' } }],
];
for (const [what, json] of bad) {
  test(`an active record that is ${what} is a problem, not an exception`, () => {
    assert.equal(parseActiveRecord(JSON.stringify(json)).ok, false);
  });
}

test('what runs goes on running while errors and carriers come and go', () => {
  const now = { ...record, at: 'now' };
  assert.equal(sinceBefore(undefined, now).at, 'now');
  assert.deepEqual(sinceBefore(record, { ...now, error: 'failed', carrier: null, why: '' }), {
    ...record,
    error: 'failed',
    carrier: null,
    why: '',
  });
  for (const change of [{ source: null }, { used: 'last-known-good' as const }, { effectiveSha256: 'other' }]) {
    assert.equal(sinceBefore(record, { ...now, ...change }).at, 'now');
  }
});

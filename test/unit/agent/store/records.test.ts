import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseCondemned, parseJournal, parseManifest, parseRefused, parseTrial } from '../../../../agent/store/records.ts';
import { parseActiveRecord, printActiveRecord, type ActiveRecord } from '../../../../agent/store/active-record.ts';

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

test('no bytes and no JSON make a reader of our records throw', () => {
  const anything = fc.oneof(
    fc.uint8Array(),
    fc.json().map(bytes),
    fc.array(fc.json()).map((values) => bytes(values.join('\n'))),
  );
  for (const parse of [parseCondemned, parseManifest, parseRefused, parseTrial]) {
    fc.assert(fc.property(anything, (text) => typeof parse(text).ok === 'boolean'));
  }
  fc.assert(fc.property(anything, (text) => Array.isArray(parseJournal(text))));
});

test('a manifest with a key twice, a path for a key or a hash that is none is damage', () => {
  const file = { key: 'k', bytes: 1, sha256: '0'.repeat(64) };
  const manifest = { namespace: 'ns', name: 'n', savedAt: 't', annotations: {}, files: [file] };
  assert.equal(parseManifest(bytes(manifest)).ok, true);
  for (const files of [[file, file], [{ ...file, key: '../k' }], [{ ...file, sha256: 'x' }], 'k']) {
    assert.equal(parseManifest(bytes({ ...manifest, files })).ok, false);
  }
  assert.equal(parseManifest(bytes({ ...manifest, annotations: { 'dkc.dev/allow': 5 } })).ok, false);
});

test('the journal skips lines that are cut, foreign or behind a hole', () => {
  const line = (detail: string) => JSON.stringify({ at: 't', event: 'booted', source: null, detail });
  const text = `${line('1')}\nrubbish\n${line('2').slice(0, 20)}\n${'\0'.repeat(30)}${line('3')}\n{"event":"unheard","at":"t","source":null,"detail":""}\n\n${line('4')}`;
  assert.equal(parseJournal(bytes(text)).map(({ detail }) => detail).join(' '), '1 3 4'); // prettier-ignore
});

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

const bad: [string, unknown][] = [
  ['an unknown use', { ...record, used: 'best' }],
  ['an array', []],
  ['an unknown carrier', { ...record, carrier: 'pigeon' }],
  ['a number as error', { ...record, error: 3 }],
  ['no moment', { ...record, at: undefined }],
  ['half a source', { ...record, source: { ...record.source, uid: '' } }],
];
for (const [what, json] of bad)
  test(`an active record that is ${what} is a problem, not an exception`, () => {
    assert.equal(parseActiveRecord(JSON.stringify(json)).ok, false);
  });

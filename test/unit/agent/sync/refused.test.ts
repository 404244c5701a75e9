import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_FINDINGS } from '../../../../agent/config/config.ts';
import { MAX_FINDING_TEXT, parseRefused, refusedRecord, refusedText } from '../../../../agent/store/records.ts';
import { content, source } from '../../../support/builders.ts';

test('a refusal for very many reasons stays a small file, and says how many there were', () => {
  const findings = Array.from({ length: 5000 }, (_, at) => ({
    field: `${'x'.repeat(100_000)}${at}`,
    rule: 'r',
    message: 'm'.repeat(9000),
  }));
  const record = refusedRecord({ source: source('web@1'), ...content('A'), at: 't', error: 'e' }, findings);
  assert.equal(record.findings.length, MAX_FINDINGS);
  assert.equal(record.more, 5000 - MAX_FINDINGS);
  assert.ok(record.findings.every(({ field, message }) => field.length <= MAX_FINDING_TEXT && message.length <= MAX_FINDING_TEXT));
  const bytes = new TextEncoder().encode(refusedText(record));
  assert.ok(bytes.length < 512 * 1024);
  assert.deepEqual(parseRefused(bytes), { ok: true, value: record });
});

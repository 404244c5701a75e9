import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transitionsOf, TRUSTED_ALREADY } from '../../../../agent/events/event.ts';
import type { JournalEvent, JournalLine } from '../../../../agent/store/store.ts';
import { condemned, content, source } from '../../../support/builders.ts';

/** `condemned web@2`, or `booted local`: one line a word pair, a second apart. */
function journal(...lines: string[]): JournalLine[] {
  return lines.map((text, n) => {
    const [event = '', name = '', ...detail] = text.split(' ');
    const at = `2026-03-01T00:00:0${n}.000Z`;
    return { at, event: event as JournalEvent, source: name === 'local' ? null : source(name), detail: detail.join(' ') || 'why' };
  });
}

// prettier-ignore
const cases = [
  { why: 'trust', lines: ['booted web@1', 'promoted web@1'], is: ['1 Normal KubeletConfigTrusted: Trusted dkc-system/web:kubelet@1: why'] },
  { why: 'nothing where trusted content got another name', lines: [`promoted web@1 ${TRUSTED_ALREADY}`], is: [] },
  { why: 'a condemnation, and the way back once it is gone', lines: ['booted web@2', 'condemned web@2', 'booted web@1'], is: [
    '1 Warning KubeletConfigCondemned: Condemned dkc-system/web:kubelet@2: why',
    '2 Warning KubeletConfigRolledBack: Rolled back from dkc-system/web:kubelet@2 to dkc-system/web:kubelet@1: why' ] },
  { why: 'the way back to local', lines: ['condemned web@2', 'booted local'], is: [
    '0 Warning KubeletConfigCondemned: Condemned dkc-system/web:kubelet@2: why',
    '1 Warning KubeletConfigRolledBack: Rolled back from dkc-system/web:kubelet@2 to local: why' ] },
  { why: 'no way back at later boots', lines: ['rolled-back web@2', 'booted web@1', 'booted web@1'], is: ['1 Normal KubeletConfigRolledBack: Rolled back from dkc-system/web:kubelet@2 to dkc-system/web:kubelet@1: why'] },
  { why: 'no way back before a boot', lines: ['rolled-back web@2'], is: [] },
  { why: 'no way back where it was tried again before a boot', lines: ['rolled-back web@2', 'retried web@2', 'booted web@2'], is: ['1 Normal KubeletConfigRetried: Allowed to try dkc-system/web:kubelet@2 again: why'] },
  { why: 'nothing of assignments, refusals, resets, damage and plain boots', lines: ['assigned web@1', 'refused web@2', 'reset local', 'damaged local', 'booted local'], is: [] },
] as const;

for (const { why, lines, is } of cases)
  test(`a journal makes events of ${why}`, () => {
    const seen = transitionsOf(journal(...lines), []).map(({ index, type, reason, message }) => `${index} ${type} ${reason}: ${message}`);
    assert.deepEqual(seen, is);
  });

test('the event of a condemnation has its evidence', () => {
  const lines = journal('condemned web@1');
  const evidence = ['2026-03-01T00:00:00Z exited with status 1', 'last health: no answer'];
  const record = condemned(content('A'), { at: lines[0]?.at ?? '', evidence });
  const [event] = transitionsOf(lines, [condemned(content('B'), { evidence: ['of another'] }), record]);
  assert.equal(event?.message, `Condemned dkc-system/web:kubelet@1: why; ${evidence.join('; ')}`);
});

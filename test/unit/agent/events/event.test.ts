import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedEvent, refusedEvent, transitionsOf, TRUSTED_ALREADY } from '../../../../agent/events/event.ts';
import type { Finding } from '../../../../agent/config/contract.ts';
import { condemned, content, source } from '../../../support/builders.ts';
import type { JournalEvent, JournalLine } from '../../../../agent/store/store.ts';

const facts = { nodeName: 'node-a', nowMs: Date.parse('2026-03-01T12:00:00.500Z'), nanos: 7 };
const WEB = '/api/v1/namespaces/dkc-system/configmaps/web, UID: u-web, ResourceVersion: 3, KubeletConfigKey: kubelet';

test('the event of a change is upstream’s, member by member', () => {
  const { metadata, ...event } = changedEvent(source('web@3'), facts);
  assert.equal(metadata.name, `node-a.${(BigInt(facts.nowMs) * 1_000_000n + 7n).toString(16)}`);
  assert.equal(metadata.namespace, 'default');
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    type: 'Normal',
    reason: 'KubeletConfigChanged',
    message: `Kubelet restarting to use ${WEB}`,
    involvedObject: { kind: 'Node', name: 'node-a', uid: 'node-a' },
    source: { component: 'kubelet', host: 'node-a' },
    count: 1,
    firstTimestamp: '2026-03-01T12:00:00Z',
    lastTimestamp: '2026-03-01T12:00:00Z',
    reportingComponent: '',
    reportingInstance: '',
  });
});

test('a refusal is a warning that names fields and rules', () => {
  const findings: Finding[] = [
    { field: 'maxPods', rule: 'not-negative', message: 'maxPods must be 0 or more' },
    { field: 'featureGates.Foo', rule: 'unknown-gate', message: 'no such gate' },
    { field: '', rule: 'syntax', message: 'line 3 is no YAML' },
  ];
  const event = refusedEvent(source('web@3'), findings, facts);
  assert.equal(event['type'], 'Warning');
  assert.equal(event['reason'], 'KubeletConfigRefused');
  assert.equal(
    event['message'],
    `Refused ${WEB}: maxPods must be 0 or more [not-negative]; featureGates.Foo: no such gate [unknown-gate]; line 3 is no YAML [syntax]`,
  );
});

const bytes = (text: unknown): number => Buffer.byteLength(String(text));
const many = (count: number, message: (field: string) => string): Finding[] =>
  Array.from({ length: count }, (_, n) => ({ field: `field${n}`, rule: 'rule', message: message(`field${n}`) }));

// prettier-ignore
const long: { why: string; findings: Finding[] }[] = [
  { why: 'letters of several bytes', findings: many(30, () => 'ü'.repeat(150)) },
  { why: 'so many fields that their rules do not fit', findings: many(70, () => 'x'.repeat(50)) },
];

for (const { why, findings } of long)
  test(`a refusal with ${why} fits into 1,024 bytes and still names every field`, () => {
    const message = String(refusedEvent(source('web@3'), findings, facts)['message']);
    assert.ok(bytes(message) <= 1024, `${bytes(message)} bytes`);
    for (const { field } of findings) assert.match(message, new RegExp(`\\b${field}\\b`));
  });

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
  { why: 'no way back at later boots', lines: ['rolled-back web@2', 'booted web@1', 'booted web@1'], is: ['1 Normal KubeletConfigRolledBack: Rolled back from dkc-system/web:kubelet@2 to dkc-system/web:kubelet@1: why'] },
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

test('a refusal with more names than fit is cut, and says that it was', () => {
  const message = String(refusedEvent(source('web@3'), [{ field: '€'.repeat(600), rule: 'unknown-field', message: 'not known' }], facts)['message']); // prettier-ignore
  assert.ok(bytes(message) <= 1024 && bytes(message) > 900, `${bytes(message)} bytes`);
  assert.match(message, / \.\.\.$/);
});

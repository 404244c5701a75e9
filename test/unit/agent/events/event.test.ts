import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedEvent, refusedEvent, stateEvent } from '../../../../agent/events/event.ts';
import type { Finding } from '../../../../agent/config/contract.ts';
import { source } from '../../../support/builders.ts';

const facts = { nodeName: 'node-a', nowMs: Date.parse('2026-03-01T12:00:00.500Z'), nanos: 7 };
const WEB = '/api/v1/namespaces/dkc-system/configmaps/web, UID: u-web, ResourceVersion: 3, KubeletConfigKey: kubelet';

test('the event of a change is upstream’s, member by member (spec 10)', () => {
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

test('the event of a return to local says so', () => {
  assert.equal(changedEvent(null, facts)['message'], 'Kubelet restarting to use local config');
});

test('two events of one millisecond have two names', () => {
  const names = [0, 1].map((nanos) => changedEvent(null, { ...facts, nanos }).metadata.name);
  assert.notEqual(names[0], names[1]);
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
  { why: 'long messages', findings: many(30, () => 'x'.repeat(200)) },
  { why: 'messages that begin with their field', findings: many(30, (field) => `${field} ${'x'.repeat(200)}`) },
  { why: 'messages of several lines', findings: many(30, () => `line\n${'x'.repeat(200)}\nline`) },
  { why: 'letters of several bytes', findings: many(30, () => 'ü'.repeat(150)) },
  { why: 'so many fields that their rules do not fit', findings: many(70, () => 'x'.repeat(50)) },
];

for (const { why, findings } of long)
  test(`a refusal with ${why} fits into 1,024 bytes and still names every field`, () => {
    const message = String(refusedEvent(source('web@3'), findings, facts)['message']);
    assert.ok(bytes(message) <= 1024, `${bytes(message)} bytes`);
    for (const { field } of findings) assert.match(message, new RegExp(`\\b${field}\\b`));
  });

test('a refusal with more names than fit is cut, and says that it was', () => {
  const hostile: Finding[] = [{ field: '€'.repeat(600), rule: 'unknown-field', message: 'not known' }];
  const message = String(refusedEvent(source('web@3'), hostile, facts)['message']);
  assert.ok(bytes(message) <= 1024 && bytes(message) > 900, `${bytes(message)} bytes`);
  assert.match(message, / \.\.\.$/);
});

test('a suspicion is a warning of its own reason', () => {
  const event = stateEvent('Warning', 'KubeletUnhealthy', 'kubelet exited 3 times', facts);
  assert.deepEqual([event['type'], event['reason'], event['message']], ['Warning', 'KubeletUnhealthy', 'kubelet exited 3 times']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../agent/config/contract.ts';
import { checkPolicy, defaultPolicy, parsePolicy } from '../../../../../agent/config/policy/policy.ts';
import { applyDefaults, newestKubeletVersion, parseKubeletVersion, readConfigz } from '../../../../../agent/config/config.ts';

const version = parseKubeletVersion('1.34');
const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

const local = { ...KIND, authentication: { anonymous: { enabled: true } }, port: 10255, maxPods: 50 };
const fieldPolicy = (text: string) => parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${text}\n`);
const both = 'authentication.anonymous.enabled, port';
const single = 'fields: {port: allow, maxPods: deny, featureGates: deny, featureGates.A: allow}';
/** What a ConfigMap says beside the local config, or, with `bare`, instead of it; `says` is the annotation dkc.dev/allow. */
type Asked = { set?: JsonObject; bare?: JsonObject; says?: string; policy?: string; local?: JsonObject; minor?: string };
const policies: [why: string, asked: Asked, refused: string][] = [
  ['lets safe and needs-drain fields differ', { set: { maxPods: 10, eventBurst: 7 } }, ''],
  ['refuses what a bare ConfigMap resets', { bare: { maxPods: 10 } }, both],
  ['heeds the annotation', { bare: { maxPods: 10 }, says: 'port, authentication.anonymous.enabled' }, ''],
  [
    'allows and denies single fields',
    { set: { port: 1, maxPods: 9, featureGates: { A: true, B: true } }, policy: single, says: 'maxPods' },
    'featureGates.B, maxPods',
  ],
];
const taint = { key: 'a', effect: 'NoSchedule' };
// prettier-ignore
const unknowns: [why: string, asked: Asked, refused: string][] = [
  ['refuses one that the ConfigMap sets', { set: { newThing: 1 } }, 'newThing'],
  ['refuses one inside of a list', { local: { registerWithTaints: [taint] }, set: { registerWithTaints: [{ ...taint, newThing: 1 }] } }, 'registerWithTaints'],
  ['lets an older kubelet ignore it', { set: { newThing: 1 }, minor: '1.36' }, ''],
];
const newest = newestKubeletVersion.text;
for (const [why, asked, refused] of [
  ...policies,
  ...unknowns.map(([why, asked, refused]) => [`${why}, of fields that no table has`, { minor: newest, ...asked }, refused] as const),
])
  test(`the policy ${why}`, () => {
    const { set, bare, says, policy, local: own, minor = '1.34' } = asked;
    const dynamic = bare ? { ...KIND, ...bare } : { ...local, ...set };
    const question = { local: { ...local, ...own }, dynamic, version: parseKubeletVersion(minor), allowAnnotation: says };
    const findings = checkPolicy({ ...question, policy: policy === undefined ? defaultPolicy : fieldPolicy(policy) });
    const fields = findings.map(({ field }) => field);
    assert.equal(fields.toSorted().join(', '), refused);
  });

test('without a policy nothing is refused', () => {
  assert.deepEqual(checkPolicy({ local, dynamic: { ...local, port: 1 }, version, policy: 'none' }), []);
});

const port = { ...local, port: 4711 };
const DENY = 'only the field policy of this node could allow it, and it denies the field by name';
const setPort =
  'port (dangerous) differs from the local config: set in the ConfigMap, set in the local config; remove it from the ConfigMap';
const LEFT = 'left at the default of 1.34 in the ConfigMap, set in the local config';
const allow = (field: string): string => `or allow it with the annotation dkc.dev/allow: "${field}"`;
const anonymous = 'authentication.anonymous.enabled';
const remedies: { why: string; dynamic: JsonObject; policy?: string; says: string }[] = [
  {
    why: 'that only fails to say what the local config says offers overlay',
    dynamic: { ...KIND, port: local.port },
    says: `${anonymous} (dangerous) differs from the local config: ${LEFT}; merge with --merge=overlay, start from the output of dkc render, ${allow(anonymous)}`,
  },
  { why: 'of a denied field names who can allow it', dynamic: port, policy: 'fields: {port: deny}', says: `${setPort}; ${DENY}` },
  {
    why: 'of a gate knows where it is set',
    dynamic: { ...local, featureGates: { A: true } },
    says: `featureGates.A (dangerous) differs from the local config: set in the ConfigMap, left at the kubelet's default in the local config; remove it from the ConfigMap, ${allow('featureGates.A')}`,
  },
];
for (const { why, dynamic, policy, says } of remedies)
  test(`the refusal of a ConfigMap ${why}`, () => {
    const parsed = policy === undefined ? defaultPolicy : fieldPolicy(policy);
    const findings = checkPolicy({ local, dynamic, version, policy: parsed });
    assert.equal(findings[0]?.message, says);
    assert.ok(findings.every(({ message }) => !/4711|10255/.test(message))); // never a value
  });

const broken = ['allow: [fast]', 'overrides: maybe', 'fields: {a: perhaps}', 'more: 1', 'drift: mend', 'fields: [a]', 'signatureKeys: []', 'signatureKeys: ssh-ed25519', 'a: [']; // prettier-ignore
test('a field policy with nothing is refused', () => assert.throws(() => parsePolicy(''), /Cannot read the field policy: /));
for (const text of broken)
  test(`a field policy with ${text} is refused`, () => assert.throws(() => fieldPolicy(text), /Cannot read the field policy: /));

const answers: { why: string; minor: string; text: string; reads: object | RegExp }[] = [
  { why: 'up to 1.35 has no type', minor: '1.35', text: '{"kubeletconfig":{"maxPods":7,"syncFrequency":"1m0s","staticPodPath":""}}', reads: { maxPods: 7 } },
  { why: 'from 1.36 on has one', minor: '1.36', text: JSON.stringify({ kubeletconfig: { ...KIND, maxPods: 7 } }), reads: { maxPods: 7 } },
  { why: 'holds fields that this table does not have', minor: '1.36', text: '{"kubeletconfig":{"later":1,"maxPods":7}}', reads: { maxPods: 7 } },
  { why: 'is no JSON', minor: '1.36', text: 'Unauthorized', reads: /^the answer of \/configz is not JSON/ },
  { why: 'is something else', minor: '1.36', text: '{"kind":"Status"}', reads: /has no kubeletconfig$/ },
  { why: 'has a field of the wrong type', minor: '1.36', text: '{"kubeletconfig":{"maxPods":"x"}}', reads: /is not a configuration of this kubelet version: maxPods \(type\)$/ },
]; // prettier-ignore
for (const { why, minor, text, reads } of answers)
  test(`an answer of /configz that ${why}`, () => {
    const version = parseKubeletVersion(minor);
    const read = readConfigz(text, version);
    if (reads instanceof RegExp) assert.match(read.ok ? 'read' : read.problem, reads);
    // A list or map that is not in the answer was set to be empty.
    else assert.deepEqual(read, { ok: true, config: applyDefaults({ ...KIND, enforceNodeAllocatable: [], evictionHard: {}, ...reads }, version) }); // prettier-ignore
  });

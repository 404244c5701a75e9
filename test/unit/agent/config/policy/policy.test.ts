import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../agent/config/contract.ts';
import { defaultPolicy, checkPolicy, parsePolicy } from '../../../../../agent/config/policy/policy.ts';
import { newestKubeletVersion } from '../../../../../agent/config/config.ts';
import { parseKubeletVersion } from '../../../../../agent/config/version.ts';

const version = parseKubeletVersion('1.34');
const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

const local = { ...KIND, authentication: { anonymous: { enabled: true } }, port: 10255, maxPods: 50 };
const policies: { why: string; dynamic: object; policy?: string; allow?: string; refused: string[] }[] = [
  { why: 'lets safe and needs-drain fields differ', dynamic: { ...local, maxPods: 10, eventBurst: 7 }, refused: [] },
  { why: 'refuses what a bare ConfigMap resets', dynamic: { ...KIND, maxPods: 10 }, refused: ['authentication.anonymous.enabled', 'port'] },
  { why: 'heeds the annotation', dynamic: { ...KIND, maxPods: 10 }, allow: 'port, authentication.anonymous.enabled', refused: [] },
  {
    why: 'heeds the annotation for all below a name',
    dynamic: { ...local, featureGates: { NodeSwap: true } },
    allow: 'featureGates',
    refused: [],
  },
  {
    why: 'heeds no annotation with overrides false',
    dynamic: { ...local, port: 1 },
    policy: 'overrides: false',
    allow: 'port',
    refused: ['port'],
  },
  {
    why: 'allows and denies single fields',
    dynamic: { ...local, port: 1, maxPods: 9, featureGates: { A: true, B: true } },
    policy: 'fields: {port: allow, maxPods: deny, featureGates: deny, featureGates.A: allow}',
    allow: 'maxPods',
    refused: ['featureGates.B', 'maxPods'],
  },
  {
    why: 'without a word on overrides heeds annotations',
    dynamic: { ...local, port: 1 },
    policy: 'allow: [safe]',
    allow: 'port',
    refused: [],
  },
  { why: 'without a word on classes has the default ones', dynamic: { ...local, maxPods: 9 }, policy: 'allow: ~\nfields: ~', refused: [] },
  {
    why: 'names a field once that differs in known and unknown members',
    dynamic: { ...local, tracing: { endpoint: 'x', newThing: 1 } },
    policy: 'allow: []',
    refused: ['tracing'],
  },
  { why: 'takes a narrower list of classes', dynamic: { ...local, maxPods: 9 }, policy: 'allow: [safe]', refused: ['maxPods'] },
];
for (const { why, dynamic, policy, allow, refused } of policies) {
  test(`the policy ${why}`, () => {
    const parsed = policy === undefined ? defaultPolicy : parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${policy}\n`);
    const findings = checkPolicy({ local, dynamic: { ...dynamic }, version, policy: parsed, allowAnnotation: allow });
    assert.deepEqual(findings.map(({ field }) => field).sort(), refused);
  });
}

const unknowns: { why: string; local?: JsonObject; dynamic: JsonObject; minor?: string; allow?: string; refused: string[] }[] = [
  { why: 'refuses one that the ConfigMap sets', dynamic: { ...local, newThing: 1 }, refused: ['newThing'] },
  { why: 'refuses one that the ConfigMap lacks', local: { ...local, newThing: 1 }, dynamic: local, refused: ['newThing'] },
  { why: 'lets one be that is the same', local: { ...local, newThing: { a: 1 } }, dynamic: { ...local, newThing: { a: 1 } }, refused: [] },
  {
    why: 'refuses one inside of a struct',
    dynamic: { ...local, authentication: { anonymous: { enabled: true, newThing: true } } },
    refused: ['authentication.anonymous.newThing'],
  },
  {
    why: 'refuses one inside of a safe field',
    dynamic: { ...local, tracing: { samplingRatePerMillion: 1, newThing: 1 } },
    refused: ['tracing'],
  },
  {
    why: 'refuses one inside of a list',
    local: { ...local, registerWithTaints: [{ key: 'a', effect: 'NoSchedule' }] },
    dynamic: { ...local, registerWithTaints: [{ key: 'a', effect: 'NoSchedule', newThing: 1 }] },
    refused: ['registerWithTaints'],
  },
  { why: 'heeds the annotation', dynamic: { ...local, newThing: { a: 1 } }, allow: 'newThing', refused: [] },
  { why: 'lets an older kubelet ignore it', dynamic: { ...local, newThing: 1 }, minor: '1.36', refused: [] },
];
for (const { why, local: own = local, dynamic, minor = newestKubeletVersion.text, allow, refused } of unknowns) {
  test(`of fields that no table has, the policy ${why}`, () => {
    const question = { local: own, dynamic, version: parseKubeletVersion(minor), policy: defaultPolicy, allowAnnotation: allow };
    assert.deepEqual(
      checkPolicy(question).map(({ field }) => field),
      refused,
    );
  });
}

test('without a policy nothing is refused', () => {
  assert.deepEqual(checkPolicy({ local, dynamic: { ...local, port: 1 }, version, policy: 'none' }), []);
});

const port = { ...local, port: 4711 };
const DENY = 'only the field policy of this node could allow it, and it denies the field by name';
const STRICT = 'only the field policy of this node could allow it, and it ignores annotations';
const remedies: { why: string; dynamic: JsonObject; merge?: 'overlay'; policy?: string; says: string }[] = [
  {
    why: 'that only fails to say what the local config says offers overlay',
    dynamic: { ...KIND, port: local.port },
    says: 'authentication.anonymous.enabled (dangerous) differs from the local config: left at the default of 1.34 in the ConfigMap, set in the local config; merge with --merge=overlay, start from the output of dkc render, or allow it with the annotation dkc.dev/allow: "authentication.anonymous.enabled"',
  },
  {
    why: 'that sets a field itself offers to take it out',
    dynamic: port,
    says: 'port (dangerous) differs from the local config: set in the ConfigMap, set in the local config; remove it from the ConfigMap, or allow it with the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'that sets a field itself offers no other overlay to a node that overlays',
    dynamic: port,
    merge: 'overlay',
    says: 'port (dangerous) differs from the local config: set in the ConfigMap, set in the local config; remove it from the ConfigMap, or allow it with the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'whose overlay takes a field away offers to leave it',
    dynamic: { ...KIND, authentication: local.authentication },
    merge: 'overlay',
    says: 'port (dangerous) differs from the local config: left at the default of 1.34 in the ConfigMap, set in the local config; remove it from the ConfigMap, or allow it with the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'of a denied field names who can allow it',
    dynamic: port,
    policy: 'fields: {port: deny}',
    says: `port (dangerous) differs from the local config: set in the ConfigMap, set in the local config; remove it from the ConfigMap; ${DENY}`,
  },
  {
    why: 'where annotations do not count names who can allow it',
    dynamic: { ...KIND, authentication: local.authentication },
    policy: 'overrides: false',
    says: `port (dangerous) differs from the local config: left at the default of 1.34 in the ConfigMap, set in the local config; merge with --merge=overlay, or start from the output of dkc render; ${STRICT}`,
  },
  {
    why: 'of a gate knows where it is set',
    dynamic: { ...local, featureGates: { A: true } },
    says: `featureGates.A (dangerous) differs from the local config: set in the ConfigMap, left at the kubelet's default in the local config; remove it from the ConfigMap, or allow it with the annotation dkc.dev/allow: "featureGates.A"`,
  },
];
for (const { why, dynamic, merge, policy, says } of remedies) {
  test(`the refusal of a ConfigMap ${why}`, () => {
    const parsed = policy === undefined ? defaultPolicy : parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${policy}\n`);
    const findings = checkPolicy({ local, dynamic, version, policy: parsed, ...(merge === undefined ? {} : { merge }) });
    assert.equal(findings[0]?.message, says);
    assert.ok(findings.every(({ message }) => !/4711|10255/.test(message))); // never a value
  });
}

test('a field policy says whether drift is corrected; it is not where that is not said', () => {
  const drift = (text: string) => parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${text}\n`).drift;
  assert.deepEqual(['drift: correct', 'drift: report', 'drift:', ''].map(drift), ['correct', 'report', undefined, undefined]);
});

test('a field policy of another kind, and one that is no YAML, are refused by name', () => {
  assert.throws(() => parsePolicy('apiVersion: dkc.dev/v1alpha1\nkind: Other'), /Cannot read the field policy: kind must be FieldPolicy/);
  assert.throws(() => parsePolicy('a: ['), /Cannot read the field policy: .*line/);
});

for (const text of [
  '',
  'kind: FieldPolicy',
  'allow: [fast]',
  'overrides: maybe',
  'fields: {a: perhaps}',
  'more: 1',
  'drift: mend',
  'drift: true',
  'fields: [a]',
  'signatureKeys: []',
  'signatureKeys: [1]',
  'signatureKeys: ssh-ed25519',
]) {
  test(`a field policy with ${text === '' ? 'nothing' : text} is refused`, () => {
    const body = text === '' || text.startsWith('kind') ? text : `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${text}`;
    assert.throws(() => parsePolicy(body), /Cannot read the field policy: /);
  });
}

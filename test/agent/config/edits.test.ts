import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../agent/config/contract.ts';
import { compareConfigs } from '../../../agent/config/compare.ts';
import { explainFields } from '../../../agent/config/explain.ts';
import { applyFlags } from '../../../agent/config/flags.ts';
import { mergeOverlay } from '../../../agent/config/overlay.ts';
import { resolvePaths } from '../../../agent/config/paths.ts';
import { defaultPolicy, judgePolicy, parsePolicy } from '../../../agent/config/policy.ts';
import { applyDefaults } from '../../../agent/config/defaults.ts';
import { fieldsUnknownTo } from '../../../agent/config/decode.ts';
import { parseKubeletVersion } from '../../../agent/config/version.ts';

const version = parseKubeletVersion('1.34');
const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

const flags = [
  { why: 'beats the field', args: ['--max-pods=7'], field: 'maxPods', value: 7 },
  { why: 'may stand beside its value', args: ['--max-pods', '7'], field: 'maxPods', value: 7 },
  { why: 'may be written with underscores', args: ['--max_pods=7'], field: 'maxPods', value: 7 },
  { why: 'is a switch without a value', args: ['--fail-swap-on'], field: 'failSwapOn', value: true },
  { why: 'does not take the next argument for a switch', args: ['--fail-swap-on', '--max-pods=7'], field: 'failSwapOn', value: true },
  { why: 'reads Go numbers', args: ['--oom-score-adj=-0x10'], field: 'oomScoreAdj', value: -16 },
  {
    why: 'reads lists',
    args: ['--cluster-dns=10.0.0.1,10.0.0.2', '--cluster-dns=10.0.0.3'],
    field: 'clusterDNS',
    value: ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
  },
  {
    why: 'reads thresholds',
    args: ['--eviction-hard=memory.available<1Gi,nodefs.available<5%'],
    field: 'evictionHard',
    value: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
  },
  { why: 'reads maps', args: ['--kube-reserved', 'cpu=100m'], field: 'kubeReserved', value: { cpu: '100m' } },
  { why: 'reads headers', args: ['--manifest-url-header=a:x,a:y'], field: 'staticPodURLHeader', value: { a: ['x', 'y'] } },
  {
    why: 'reads taints',
    args: ['--register-with-taints=a=b:NoSchedule,c:NoExecute'],
    field: 'registerWithTaints',
    value: [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'NoExecute' },
    ],
  },
  {
    why: 'reads reserved memory',
    args: ['--reserved-memory=0:memory=1Gi;1:memory=2Gi'],
    field: 'reservedMemory',
    value: [
      { numaNode: 0, limits: { memory: '1Gi' } },
      { numaNode: 1, limits: { memory: '2Gi' } },
    ],
  },
];
for (const { why, args, field, value } of flags) {
  test(`a flag ${why}`, () => {
    const { merged, shadowed, problems } = applyFlags({ ...KIND, [field]: 'as it was' }, args, version);
    assert.deepEqual(merged[field], value);
    assert.ok(shadowed.some((shadow) => shadow.field === field));
    assert.deepEqual(problems, []);
  });
}

test('feature gates of flag and config merge gate by gate', () => {
  const { merged, shadowed } = applyFlags(
    { featureGates: { A: true, B: true } },
    ['--hostname-override', 'x', '--feature-gates=B=false,C=true'],
    version,
  );
  assert.deepEqual(merged['featureGates'], { A: true, B: false, C: true });
  assert.deepEqual(shadowed, [
    { field: 'featureGates.B', flag: '--feature-gates' },
    { field: 'featureGates.C', flag: '--feature-gates' },
  ]);
});

test('a flag that the kubelet would refuse is reported, without its value', () => {
  const { merged, problems } = applyFlags({ maxPods: 5 }, ['--max-pods=secret', '--sync-frequency=5', '--feature-gates=A=maybe'], version);
  assert.deepEqual(merged, { maxPods: 5 });
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['maxPods', 'syncFrequency', 'featureGates'],
  );
  assert.ok(problems.every(({ message }) => !message.includes('secret')));
});

test('relative paths resolve against the directory, podLogsDir from 1.30 on', () => {
  const written = {
    staticPodPath: 'm',
    tlsCertFile: '/abs',
    resolvConf: '',
    authentication: { x509: { clientCAFile: '../ca.crt' } },
    podLogsDir: 'l',
  };
  const paths = { staticPodPath: '/d/e/m', tlsCertFile: '/abs', resolvConf: '', authentication: { x509: { clientCAFile: '/d/ca.crt' } } };
  assert.deepEqual(resolvePaths(written, '/d/e', version), { ...paths, podLogsDir: '/d/e/l' });
  assert.deepEqual(resolvePaths(written, '/d/e', parseKubeletVersion('1.29')), { ...paths, podLogsDir: 'l' });
});

test('an overlay merges objects, replaces lists, and null removes', () => {
  const merged = mergeOverlay(
    { a: 1, b: { c: 1, d: 2 }, e: [1, 2], f: 1 },
    { b: { c: null, g: { h: null, i: 1 } }, e: [3], f: null, j: 2 },
  );
  assert.deepEqual(merged, { a: 1, b: { d: 2, g: { i: 1 } }, e: [3], j: 2 });
  assert.deepEqual(Object.keys(merged), ['a', 'b', 'e', 'j']);
});

test('configurations compare by leaf, gates one by one, secrets masked', () => {
  const a = {
    ...KIND,
    maxPods: 5,
    featureGates: { A: true, B: true },
    staticPodURLHeader: { Token: ['one'] },
    evictionHard: { 'memory.available': '1Gi' },
    unknown: 1,
  };
  const b = {
    ...KIND,
    maxPods: 5n,
    featureGates: { B: false },
    staticPodURLHeader: { Token: ['two'] },
    evictionHard: {},
    authentication: { anonymous: { enabled: true } },
  };
  assert.deepEqual(compareConfigs(a, b), [
    { field: 'staticPodURLHeader', class: 'dangerous', from: { Token: '***' }, to: { Token: '***' } },
    { field: 'authentication.anonymous.enabled', class: 'dangerous', from: null, to: true },
    { field: 'featureGates.A', class: 'dangerous', from: true, to: null },
    { field: 'featureGates.B', class: 'dangerous', from: true, to: false },
    { field: 'evictionHard', class: 'needs-drain', from: { 'memory.available': '1Gi' }, to: {} },
    { field: 'unknown', class: 'dangerous', from: 1, to: null },
  ]);
});

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
  { why: 'takes a narrower list of classes', dynamic: { ...local, maxPods: 9 }, policy: 'allow: [safe]', refused: ['maxPods'] },
];
for (const { why, dynamic, policy, allow, refused } of policies) {
  test(`the policy ${why}`, () => {
    const parsed = policy === undefined ? defaultPolicy : parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${policy}\n`);
    const findings = judgePolicy({ local, dynamic: { ...dynamic }, version, policy: parsed, allowAnnotation: allow });
    assert.deepEqual(findings.map(({ field }) => field).sort(), refused);
  });
}

const port = { ...local, port: 4711 };
const DENY = 'only the field policy of this node can allow it, and denies it by name';
const STRICT = 'only the field policy of this node can allow it, which heeds no annotation';
const remedies: { why: string; dynamic: JsonObject; merge?: 'overlay'; policy?: string; says: string }[] = [
  {
    why: 'that only fails to say what the local config says offers overlay',
    dynamic: { ...KIND, port: local.port },
    says: 'authentication.anonymous.enabled (dangerous) differs from the local config: default of 1.34 against set in the local config; merge with --merge=overlay, start from the output of dkc render, or allow it by the annotation dkc.dev/allow: "authentication.anonymous.enabled"',
  },
  {
    why: 'that sets a field itself offers to take it out',
    dynamic: port,
    says: 'port (dangerous) differs from the local config: set in the ConfigMap against set in the local config; take it out of the ConfigMap, or allow it by the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'that sets a field itself offers no other overlay to a node that overlays',
    dynamic: port,
    merge: 'overlay',
    says: 'port (dangerous) differs from the local config: set in the ConfigMap against set in the local config; take it out of the ConfigMap, or allow it by the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'whose overlay takes a field away offers to leave it',
    dynamic: { ...KIND, authentication: local.authentication },
    merge: 'overlay',
    says: 'port (dangerous) differs from the local config: default of 1.34 against set in the local config; take it out of the ConfigMap, or allow it by the annotation dkc.dev/allow: "port"',
  },
  {
    why: 'of a denied field names who can allow it',
    dynamic: port,
    policy: 'fields: {port: deny}',
    says: `port (dangerous) differs from the local config: set in the ConfigMap against set in the local config; take it out of the ConfigMap; ${DENY}`,
  },
  {
    why: 'where annotations do not count names who can allow it',
    dynamic: { ...KIND, authentication: local.authentication },
    policy: 'overrides: false',
    says: `port (dangerous) differs from the local config: default of 1.34 against set in the local config; merge with --merge=overlay, or start from the output of dkc render; ${STRICT}`,
  },
  {
    why: 'of a gate knows where it is set',
    dynamic: { ...local, featureGates: { A: true } },
    says: `featureGates.A (dangerous) differs from the local config: set in the ConfigMap against not set, so at the kubelet's own default; take it out of the ConfigMap, or allow it by the annotation dkc.dev/allow: "featureGates.A"`,
  },
];
for (const { why, dynamic, merge, policy, says } of remedies) {
  test(`the refusal of a ConfigMap ${why}`, () => {
    const parsed = policy === undefined ? defaultPolicy : parsePolicy(`apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${policy}\n`);
    const findings = judgePolicy({ local, dynamic, version, policy: parsed, ...(merge === undefined ? {} : { merge }) });
    assert.equal(findings[0]?.message, says);
    assert.ok(findings.every(({ message }) => !/4711|10255/.test(message))); // never a value
  });
}

for (const text of ['', 'kind: FieldPolicy', 'allow: [fast]', 'overrides: maybe', 'fields: {a: perhaps}', 'more: 1', 'fields: [a]']) {
  test(`a field policy with ${text === '' ? 'nothing' : text} is refused`, () => {
    const body = text === '' || text.startsWith('kind') ? text : `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${text}`;
    assert.throws(() => parsePolicy(body), /Cannot read the field policy: /);
  });
}

test('every field is explained: value, origin, class, shadowed', () => {
  const explained = explainFields({
    local: { maxPods: 5, port: 1 },
    dynamic: { maxPods: 6, eventBurst: 9 },
    merge: 'overlay',
    args: ['--event-burst=3'],
    version,
  });
  const find = (name: string): unknown => explained.find(({ field }) => field === name);
  assert.deepEqual(find('maxPods'), { field: 'maxPods', value: 6, origin: 'dynamic', class: 'needs-drain', shadowed: false });
  assert.deepEqual(find('port'), { field: 'port', value: 1, origin: 'local', class: 'dangerous', shadowed: false });
  assert.deepEqual(find('eventBurst'), { field: 'eventBurst', value: 3, origin: 'flag', class: 'safe', shadowed: true });
  assert.deepEqual(find('eventRecordQPS'), { field: 'eventRecordQPS', value: 50, origin: 'default', class: 'safe', shadowed: false });
});

test('defaults follow the version and each other', () => {
  assert.equal(applyDefaults({}, parseKubeletVersion('1.26'))['eventBurst'], 10);
  assert.equal(applyDefaults({}, parseKubeletVersion('1.27'))['eventBurst'], 100);
  assert.equal(applyDefaults({ nodeStatusUpdateFrequency: '30s' }, version)['nodeStatusReportFrequency'], '30s');
  assert.equal(applyDefaults({ maxParallelImagePulls: 2 }, version)['serializeImagePulls'], false);
  assert.equal(applyDefaults({ maxPods: 0, port: null }, version)['maxPods'], 110);
});

test('fields of a newer kubelet are named', () => {
  assert.deepEqual(
    fieldsUnknownTo({ podLogsDir: '/a', memorySwap: { swapBehavior: '' }, maxPods: 1 }, parseKubeletVersion('1.21')).map(
      ({ field }) => field,
    ),
    ['podLogsDir', 'memorySwap.swapBehavior'],
  );
});

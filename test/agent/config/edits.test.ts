import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareConfigs } from '../../../agent/config/compare.ts';
import { explainFields } from '../../../agent/config/explain.ts';
import { applyFlags } from '../../../agent/config/flags.ts';
import { mergeOverlay } from '../../../agent/config/overlay.ts';
import { resolvePaths } from '../../../agent/config/paths.ts';
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

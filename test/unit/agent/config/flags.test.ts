import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../../agent/config/contract.ts';
import { valueAt } from '../../../../agent/config/defaults.ts';
import { applyFlags, gatesOnCommandLine } from '../../../../agent/config/flags.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';

const version = parseKubeletVersion('1.34');
const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

interface FlagCase {
  why: string;
  args: string[];
  field: string;
  value: Json;
  /** What is reported as shadowed, where that is not the field. */
  shadow?: string;
}
const flags: FlagCase[] = [
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
  { why: 'takes the place of its value even where that begins with a dash', args: ['--max-pods', '-5'], field: 'maxPods', value: -5 },
  { why: 'is read from behind the value of another', args: ['--node-ip', '--max-pods=7'], field: 'maxPods', value: 7 },
  { why: 'eats its value', args: ['--hostname-override', 'x', '--max-pods', '7', '--event-burst=3'], field: 'eventBurst', value: 3 },
  {
    why: 'is read from behind a switch nobody knows, the short one too',
    args: ['--who-knows', '-v=3'],
    field: 'logging.verbosity',
    value: 3,
  },
  { why: 'may be empty', args: ['--cluster-domain=', 'x'], field: 'clusterDomain', value: '' },
  { why: 'may be the short one for verbosity', args: ['-v=4'], field: 'logging.verbosity', value: 4 },
  { why: 'may be the short one with its value attached', args: ['-v4'], field: 'logging.verbosity', value: 4 },
  { why: 'reads octal numbers', args: ['--max-pods=010'], field: 'maxPods', value: 8 },
  { why: 'reads every spelling of true', args: ['--fail-swap-on=T'], field: 'failSwapOn', value: true },
  { why: 'takes quotes off list items', args: ['--cluster-dns="10.0.0.1"'], field: 'clusterDNS', value: ['10.0.0.1'] },
  {
    why: 'adds up maps',
    args: ['--kube-reserved=cpu=1', '--kube-reserved=memory=1Gi'],
    field: 'kubeReserved',
    value: { cpu: '1', memory: '1Gi' },
  },
  {
    why: 'adds up gates',
    args: ['--feature-gates=A=true', '--feature-gates=B=false'],
    field: 'featureGates',
    value: { A: true, B: false },
    shadow: 'featureGates.A',
  },
  {
    why: 'adds up reserved memory',
    args: ['--reserved-memory=0:memory=1Gi', '--reserved-memory=1:memory=1Gi'],
    field: 'reservedMemory',
    value: [
      { numaNode: 0, limits: { memory: '1Gi' } },
      { numaNode: 1, limits: { memory: '1Gi' } },
    ],
  },
  {
    why: 'reads verbosity of single files',
    args: ['--vmodule=a*=3,b=1'],
    field: 'logging.vmodule',
    value: [
      { filePattern: 'a*', verbosity: 3 },
      { filePattern: 'b', verbosity: 1 },
    ],
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
for (const { why, args, field, value, shadow } of flags) {
  test(`a flag ${why}`, () => {
    const { merged, shadowed, problems } = applyFlags(
      field.includes('.') || shadow !== undefined ? KIND : { ...KIND, [field]: 'as it was' },
      args,
      version,
    );
    assert.deepEqual(valueAt(merged, field.split('.')), value);
    assert.ok(shadowed.some((shadowing) => shadowing.field === (shadow ?? field)));
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

test('behind two dashes there are no flags', () => {
  assert.deepEqual(applyFlags({}, ['--', '--max-pods=7'], version).merged, {});
});

test('a flag of a field that this kubelet does not know is left alone', () => {
  assert.deepEqual(applyFlags({}, ['--reserved-memory=0:memory=1Gi'], parseKubeletVersion('1.20')).merged, {});
});

for (const args of ['--max-pods=2147483648', '--max-pods=-2147483649', '--log-flush-frequency=5', '--v=2147483648', '--v=-2147483649']) {
  test(`${args} is out of range or no value`, () => assert.equal(applyFlags({}, [args], version).problems.length, 1));
}

test('the gates of a command line are known by themselves', () => {
  assert.deepEqual(gatesOnCommandLine(['--feature-gates=A=true,B=0'], version), new Map([['A', true], ['B', false]])); // prettier-ignore
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../../agent/config/contract.ts';
import { valueAt } from '../../../../agent/config/defaults.ts';
import { applyFlags } from '../../../../agent/config/flags.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';

const version = parseKubeletVersion('1.34');
const KIND = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

const numa = (numaNode: number, memory: string) => ({ numaNode, limits: { memory } });
// prettier-ignore
const flags: [why: string, args: string, field: string, value: Json][] = [
  ['beats the field', '--max-pods=7', 'maxPods', 7],
  ['is a switch without a value', '--fail-swap-on', 'failSwapOn', true],
  ['reads Go numbers', '--oom-score-adj=-0x10', 'oomScoreAdj', -16],
  ['reads lists', '--cluster-dns=10.0.0.1,10.0.0.2 --cluster-dns=10.0.0.3', 'clusterDNS', ['10.0.0.1', '10.0.0.2', '10.0.0.3']],
  ['reads thresholds', '--eviction-hard=memory.available<1Gi,nodefs.available<5%', 'evictionHard', { 'memory.available': '1Gi', 'nodefs.available': '5%' }],
  ['is read from behind the value of another', '--node-ip --max-pods=7', 'maxPods', 7],
  ['reads verbosity of single files', '--vmodule=a*=3,b=1', 'logging.vmodule', [{ filePattern: 'a*', verbosity: 3 }, { filePattern: 'b', verbosity: 1 }]],
  ['reads taints', '--register-with-taints=a=b:NoSchedule,c:NoExecute', 'registerWithTaints', [{ key: 'a', value: 'b', effect: 'NoSchedule' }, { key: 'c', effect: 'NoExecute' }]],
  ['reads reserved memory', '--reserved-memory=0:memory=1Gi;1:memory=2Gi', 'reservedMemory', [numa(0, '1Gi'), numa(1, '2Gi')]],
];
for (const [why, args, field, value] of flags)
  test(`a flag ${why}`, () => {
    const given = field.includes('.') ? KIND : { ...KIND, [field]: 'as it was' };
    const { merged, shadowed, problems } = applyFlags(given, args.split(' '), version);
    assert.deepEqual(valueAt(merged, field.split('.')), value);
    assert.ok(shadowed.some((shadowing) => shadowing.field === field));
    assert.deepEqual(problems, []);
  });

test('a flag that the kubelet would refuse is reported, without its value', () => {
  const { merged, problems } = applyFlags({ maxPods: 5 }, ['--max-pods=secret', '--sync-frequency=5', '--feature-gates=A=maybe'], version);
  assert.deepEqual(merged, { maxPods: 5 });
  assert.equal(problems.map(({ field }) => field).join(' '), 'maxPods syncFrequency featureGates');
  assert.ok(problems.every(({ message }) => !message.includes('secret')));
});

test('behind two dashes there are no flags', () => {
  assert.deepEqual(applyFlags({}, ['--', '--max-pods=7'], version).merged, {});
});

for (const args of ['--max-pods=2147483648', '--log-flush-frequency=5', '--v=-2147483649'])
  test(`${args} is out of range or no value`, () => assert.equal(applyFlags({}, [args], version).problems.length, 1));

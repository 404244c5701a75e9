import assert from 'node:assert/strict';
import { MAX_FINDINGS } from '../../../../agent/config/contract.ts';
import { test } from 'node:test';
import { defaultPolicy, parseKubeletVersion } from '../../../../agent/config/config.ts';
import { evaluate, type EvaluatedConfig, type NodeInputs } from '../../../../agent/evaluate/evaluate.ts';
import { type LocalConfig, parseLocal } from '../../../../agent/evaluate/local.ts';
import { parseDropIns } from '../../../../agent/config/overlay.ts';
import { filesOf } from '../../../support/builders.ts';

const DIR = '/var/lib/dkc/store/checkpoints/u-web/1';
const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const version = parseKubeletVersion('1.30');
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function input(kubelet: string, over: Partial<EvaluatedConfig> = {}): EvaluatedConfig {
  return { files: filesOf({ kubelet: KIND + kubelet }), kubeletConfigKey: 'kubelet', dir: DIR, annotations: {}, ...over };
}

function local(fields: string): LocalConfig {
  const parsed = parseLocal(bytesOf(KIND + fields), '/var/lib/kubelet', version);
  assert.equal(parsed.at, 'present');
  return parsed;
}

const inputs: NodeInputs = { local: local('maxPods: 110'), current: undefined, kubelet: { version, args: [] }, merge: 'replace', policy: defaultPolicy }; // prettier-ignore
const args = (...list: string[]): Partial<NodeInputs> => ({ kubelet: { version, args: list } });

/** `STAGE: field rule, ...`, or the effective file without apiVersion and kind. */
function verdict(config: EvaluatedConfig, over: Partial<NodeInputs> = {}): string {
  const evaluated = evaluate(config, { ...inputs, ...over });
  if (!evaluated.ok) return `${evaluated.stage}: ${evaluated.findings.map(({ field, rule }) => `${field} ${rule}`.trim()).join(', ')}`;
  return textOf(evaluated.effective).trimEnd().split('\n').slice(2).join('; ');
}

/** A kubelet with --config-dir and these drop-ins; undefined is one that cannot be read. */
const dropIns = (...texts: (string | undefined)[]): Partial<NodeInputs> => ({
  dropIns: parseDropIns(
    '/d',
    texts.map((text, n) => ({ path: `/d/${n}.conf`, ...(text === undefined ? {} : { bytes: bytesOf(KIND + text) }) })),
    version,
  ),
});

type Case = { why: string; config: EvaluatedConfig; inputs?: Partial<NodeInputs>; verdict: string };

// prettier-ignore
const cases: Case[] = [
  { why: 'is good', config: input('maxPods: 50'), verdict: 'maxPods: 50' },

  { why: 'lacks the key that was asked for', config: input('', { kubeletConfigKey: 'other' }), verdict: 'load: kubelet-config-key' },
  { why: 'has a field of the wrong type', config: input('maxPods: many'), verdict: 'load: maxPods type' },

  { why: 'breaks a rule only with a drop-in', config: input('cgroupsPerQOS: true'), inputs: dropIns('maxPods: -1'), verdict: 'validate: maxPods not-negative' },
  { why: 'differs from the local config in what a drop-in decides for both', config: input('port: 4711'), inputs: dropIns('port: 10250'), verdict: 'port: 4711' },
  { why: 'meets a drop-in that cannot be read, in preflight', config: input('maxPods: 50'), inputs: { ...dropIns(undefined), host: {} }, verdict: 'validate: drop-in' },
  { why: 'breaks a rule', config: input('maxPods: -1'), verdict: 'validate: maxPods not-negative' },
  { why: 'changes what policy keeps for the node', config: input('clusterDomain: b.example'), inputs: { local: local('clusterDomain: a.example') }, verdict: 'validate: clusterDomain policy' },
  { why: 'breaks rules and policy: both are told', config: input('maxPods: -1\nclusterDomain: b.example'), inputs: { local: local('clusterDomain: a.example') }, verdict: 'validate: clusterDomain policy, maxPods not-negative' },
  { why: 'is allowed by its annotation', config: input('clusterDomain: b.example', { annotations: { 'dkc.dev/allow': 'clusterDomain' } }), inputs: { local: local('clusterDomain: a.example') }, verdict: 'clusterDomain: b.example' },
  { why: 'would end this kubelet on this host', config: input('failSwapOn: true'), inputs: { host: { swapOn: true } }, verdict: 'validate: failSwapOn swap' },

  { why: 'meets a flag that no kubelet could read', config: input('maxPods: 50'), inputs: args('--max-pods=many'), verdict: 'internal: maxPods flag' },

  { why: 'names sibling keys', config: input('authentication:\n  x509:\n    clientCAFile: ca.crt'), inputs: { policy: 'none' }, verdict: `authentication:;   x509:;     clientCAFile: ${DIR}/ca.crt` },
  { why: 'is laid over the local config', config: input('maxPods: 50'), inputs: { merge: 'overlay', local: local('maxPods: 110\nclusterDomain: a.example') }, verdict: 'maxPods: 50; clusterDomain: a.example' },

  { why: 'differs from the effective file, where there is no local config', config: input('clusterDomain: b.example'), inputs: { local: { at: 'missing' }, current: bytesOf(`${KIND}clusterDomain: a.example\n`) }, verdict: 'validate: clusterDomain policy' },
  { why: 'is like the effective file, but not like the local config', config: input('clusterDomain: b.example'), inputs: { local: local('clusterDomain: a.example'), current: bytesOf(`${KIND}clusterDomain: b.example\n`) }, verdict: 'validate: clusterDomain policy' },
  { why: 'differs from the defaults, where there is nothing else', config: input('clusterDomain: b.example'), inputs: { local: { at: 'missing' } }, verdict: 'validate: clusterDomain policy' },
];
for (const { why, config, inputs: over, verdict: expected } of cases)
  test(`evaluated: a config that ${why}`, () => assert.equal(verdict(config, over), expected));

test('a good config comes with its warnings: of its text, of flags that beat it, of this host', () => {
  const config = input('maxPods: 50\nnoSuchField: 1\nmaxPods: 51\n');
  const evaluated = evaluate(config, { ...inputs, ...args('--max-pods=30', '--event-qps=7') });
  assert.ok(evaluated.ok);
  const told = evaluated.warnings.map(({ field, rule }) => `${field} ${rule}`);
  assert.deepEqual(told.toSorted(), ['maxPods duplicate-key', 'maxPods flag', 'noSuchField unknown-field']);
  assert.match(textOf(evaluated.effective), /^maxPods: 51$/m, 'flags stay with the kubelet: the file is as written');
});

test('no finding holds a value', () => {
  const secret = 'hunter2.example';
  const config = input(`clusterDomain: ${secret}\nmaxPods: -77777\nhealthzBindAddress: ${secret}\nnoSuchField: ${secret}`);
  const over: Partial<NodeInputs> = { local: local('clusterDomain: other.hunter2.example') };
  for (const evaluated of [evaluate(config, { ...inputs, ...over }), evaluate(input(`maxPods: ${secret}`), inputs)]) {
    assert.ok(!evaluated.ok);
    assert.doesNotMatch(JSON.stringify(evaluated.findings), /hunter2|77777/);
  }
});

test('of very many findings a hundred are told, and how many there are', () => {
  const evaluated = evaluate(
    input('', { files: filesOf({ kubelet: KIND + Array.from({ length: 5000 }, (_, n) => `k${n}: 1\n`).join('') }) }),
    inputs,
  );
  const told = evaluated.ok ? evaluated.warnings : evaluated.findings;
  assert.ok(told.length <= MAX_FINDINGS + 1, `${told.length}`);
  assert.match(told.at(-1)?.message ?? '', /and 4900 more/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPolicy, newestKubeletVersion } from '../../../../agent/config/config.ts';
import { MAX_FINDINGS } from '../../../../agent/config/contract.ts';
import { evaluate } from '../../../../agent/evaluate/evaluate.ts';
import { filesOf } from '../../../support/builders.ts';

const version = newestKubeletVersion;
const YAML = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const JSON_HEAD = '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration"';
const host = { onlineCpus: [0, 1], memoryBytes: 1n << 33n, paths: {}, swapOn: false, cgroupVersion: 2, addresses: [] } as const;
const args = ['--max-pods=5', '--v=2', '--rotate-certificates', '--event-qps=5', '--cluster-dns=10.0.0.1', '--feature-gates=A=true'];

function decide(text: string) {
  const config = { files: filesOf({ kubelet: text }), kubeletConfigKey: 'kubelet', dir: '/var/lib/dkc/u/1', annotations: {} };
  const inputs = { local: { at: 'missing' }, current: undefined, kubelet: { version, args }, merge: 'replace', policy: defaultPolicy, host } as const; // prettier-ignore
  return evaluate(config, inputs);
}

const times = (many: number, one: (n: number) => string, between = ''): string =>
  Array.from({ length: many }, (_, n) => one(n)).join(between);

/** Texts that grow with `n`; the largest is as large as a ConfigMap may be, or has as many values as a text may have. */
const shapes: { why: string; of: (n: number) => string; most: number }[] = [
  { why: 'feature gates in YAML', of: (n) => `${YAML}featureGates:\n${times(n, (i) => `  G${i}: true\n`)}`, most: 19_000 },
  { why: 'unknown keys in YAML', of: (n) => YAML + times(n, (i) => `k${i}: 1\n`), most: 19_000 },
  { why: 'eviction signals', of: (n) => `${JSON_HEAD},"evictionSoft":{${times(n, (i) => `"s${i}":"1"`, ',')}}}`, most: 19_000 },
  { why: 'parts of a duration', of: (n) => `${JSON_HEAD},"syncFrequency":"${'1ns'.repeat(n)}"}`, most: 300_000 },
  { why: 'digits of a quantity', of: (n) => `${JSON_HEAD},"containerLogMaxSize":"${'9'.repeat(n)}Ki"}`, most: 1_000_000 },
  { why: 'blanks behind what is no YAML', of: (n) => `${YAML}a: b${' '.repeat(n)}!\n`, most: 1_000_000 },
  { why: 'a quoted text', of: (n) => `${YAML}a: "${'\\x41'.repeat(n)}"\n`, most: 250_000 },
  { why: 'keys below a long path', of: (n) => `${JSON_HEAD},"a":${times(480, () => `{"${'k'.repeat(1000)}":`)}{${times(n, () => '"a":1', ',')}}${'}'.repeat(480)}}`, most: 18_000 }, // prettier-ignore
];
for (const { why, of, most } of shapes) {
  test(`${why}: sixteen times as many take no more than three times sixteen times as long, and no more than 100 findings come of it`, () => {
    const [few, many] = [of(Math.floor(most / 16)), of(most)];
    const [short, long] = [fastest(() => decide(few)), fastest(() => decide(many))];
    // What takes less than a few milliseconds is too short to compare. The square of sixteen is 256.
    assert.ok(long < 48 * Math.max(short, 3), `${short.toFixed(1)} ms, then ${long.toFixed(1)} ms`);
    const evaluated = decide(many);
    assert.ok((evaluated.ok ? evaluated.warnings : evaluated.findings).length <= MAX_FINDINGS + 1);
    for (const { message } of evaluated.ok ? evaluated.warnings : evaluated.findings)
      assert.ok(message.length < 2000, message.slice(0, 100));
  });
}

/** The best of three: whoever else uses the machine only makes it longer. */
function fastest(run: () => void): number {
  const all = [1, 2, 3].map(() => {
    const { user, system } = process.threadCpuUsage();
    run();
    const now = process.threadCpuUsage();
    return (now.user + now.system - user - system) / 1000;
  });
  return Math.min(...all);
}

const beyond: { why: string; text: string; rule: string }[] = [
  { why: 'half a million values', text: `${JSON_HEAD},"a":[${times(500_000, () => '1', ',')}]}`, rule: 'too-large' },
  { why: 'YAML nested deeper than 500', text: `${YAML}a: ${'['.repeat(501)}${']'.repeat(501)}\n`, rule: 'nesting' },
  { why: 'a text of 50,000 letters that a thousand aliases name', text: `${YAML}a: &a ${'b'.repeat(50_000)}\nx: [${times(1000, () => '*a', ', ')}]\n`, rule: 'alias' }, // prettier-ignore
];
for (const { why, text, rule } of beyond) {
  test(`${why}: refused, and ${rule === 'alias' ? 'not to be loaded' : 'for good'}`, () => {
    const evaluated = decide(text);
    assert.deepEqual(evaluated.ok ? [] : [evaluated.stage, ...evaluated.findings.map((one) => one.rule)], [
      rule === 'alias' ? 'load' : 'download',
      rule,
    ]);
  });
}

const within: { why: string; text: string }[] = [
  { why: '20,000 values in JSON', text: `${JSON_HEAD},"a":[${times(19_990, () => '1', ',')}]}` },
  { why: 'nesting 490 deep', text: `${JSON_HEAD},"a":${'['.repeat(490)}${']'.repeat(490)}}` },
];
for (const { why, text } of within) {
  test(`${why}: read`, () => {
    const evaluated = decide(text);
    assert.ok(!evaluated.ok && evaluated.stage === 'validate');
    assert.ok(evaluated.findings.some(({ field, rule }) => field === 'a' && rule === 'policy'));
  });
}

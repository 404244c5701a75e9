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
  { why: 'unknown keys in YAML', of: (n) => YAML + times(n, (i) => `k${i}: 1\n`), most: 19_000 },
  { why: 'digits of a quantity', of: (n) => `${JSON_HEAD},"containerLogMaxSize":"${'9'.repeat(n)}Ki"}`, most: 1_000_000 },
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../../../agent/config/contract.ts';
import { decode } from '../../../../../agent/config/decode/decode.ts';
import { renderYaml } from '../../../../../agent/config/yaml/render.ts';
import { parseKubeletVersion } from '../../../../../agent/config/version.ts';

const version = parseKubeletVersion('1.34.2');
const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function valueOf(scalar: string): Json | undefined {
  const decoded = decode(bytes(`${HEADER}unknownField: ${scalar}\n`), version);
  assert.ok(decoded.ok, scalar);
  return decoded.written['unknownField'];
}

const scalars: [string, Json][] = [
  ['0644', 420],
  ['0x1F', 31],
  ['1e3', 1000],
  ['18446744073709551615', 18_446_744_073_709_551_615n],
  ['on', true],
  ['~', null],
  ['', null],
  ["'on'", 'on'],
  ['.1_0', 0.1],
  ['!!str 5', '5'],
  ['!!binary aGk=', 'hi'],
];
for (const [scalar, value] of scalars)
  test(`YAML reads ${scalar === '' ? 'nothing' : scalar} as goyaml does`, () => assert.deepEqual(valueOf(scalar), value));

// What a YAML reader would take for something else, breaks a line or is no text at all.
const strings = ['', 'no', 'on', '0644', '1:30', '~', '5', '1e3', '.5', '0x1F', "it's", '"', 'a: b', '# x', '- a', '--- a', '&a', '*a', '!!str', '%', '@', ' a', 'a\nb', '\t', '\u0085', '\ufeff', '\u2028', 'x'.repeat(3000)]; // prettier-ignore
const values: Json[] = [...strings, 5, 0.5, 9_007_199_254_740_993n, true, null, [], {}, [[1], { a: [] }]];
test('what is rendered reads back as exactly the same', () => {
  const field = Object.fromEntries(values.map((value, n) => [strings[n] ?? `key ${n}`, value]));
  const object = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', unknownField: field };
  const decoded = decode(bytes(renderYaml(object)), version);
  assert.deepEqual(decoded.ok ? decoded.written : decoded.errors, object);
});

const tabs: { text: string; ok: boolean }[] = [
  { text: '? maxPods\n : 5\n', ok: false },
  { text: 'logging:\n  ? format\n    : text\n', ok: false },
  { text: 'clusterDNS:\n- \t10.0.0.10\n', ok: false },
  { text: 'maxPods:\t5\n', ok: true },
  { text: 'address: |\n  \t::1\n', ok: false },
  { text: 'address: |\n  ::1\n  \tx\n- \tx\n', ok: false },
  { text: 'address: |\n  ::1\n  \tx\n  - \tx\n', ok: true },
  { text: 'clusterDNS: [::1]\n', ok: false },
  { text: 'clusterDNS: ["::1", fd00::1]\n', ok: true },
];
for (const { text, ok } of tabs)
  test(`a tab, colon or explicit key is ${ok ? 'read' : 'refused, as goyaml does'}: ${JSON.stringify(text)}`, () =>
    assert.equal(decode(bytes(HEADER + text), version).ok, ok));

const nested = (depth: number): string => `${HEADER}a: ${'['.repeat(depth)}${']'.repeat(depth)}`;
const bomb = Array.from({ length: 12 }, (_, n) =>
  n === 0 ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]' : `a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(',')}]`,
).join('\n');
const hostile: { why: string; text: string | Uint8Array; rule: string }[] = [
  { why: 'nothing', text: '', rule: 'empty' },
  { why: 'more than a ConfigMap can hold', text: `${HEADER}#${'x'.repeat(1 << 20)}`, rule: 'too-large' },
  { why: 'an alias bomb', text: HEADER + bomb, rule: 'alias' },
  { why: 'an anchor in itself', text: `${HEADER}a: &a [*a]`, rule: 'alias' },
  { why: 'deep brackets', text: nested(5000), rule: 'nesting' },
  { why: 'bytes that are not UTF-8', text: Uint8Array.of(0x61, 0x3a, 0xff), rule: 'utf8' },
  { why: 'a NUL', text: `${HEADER}a: \u0000`, rule: 'characters' },
  { why: 'a list', text: '- a', rule: 'type' },
  { why: 'no kind', text: 'apiVersion: kubelet.config.k8s.io/v1beta1', rule: 'kind' },
  { why: 'no apiVersion', text: 'kind: KubeletConfiguration', rule: 'api-version' },
  { why: 'deep JSON', text: `{"a":${'['.repeat(200_000)}`, rule: 'nesting' },
  { why: 'half a million values in JSON', text: `{"a":[${'1,'.repeat(500_000)}1]}`, rule: 'too-large' },
  { why: 'another version', text: 'apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration', rule: 'api-version' },
  { why: 'half a JSON', text: '{"apiVersion": "kube', rule: 'syntax' },
];
for (const { why, text, rule } of hostile)
  test(`decode refuses ${why}, and at once`, () => {
    const start = performance.now();
    const decoded = decode(typeof text === 'string' ? bytes(text) : text, version);
    // A hundredth of it does; what grows without bounds takes hours.
    assert.ok(performance.now() - start < 20_000, `it took ${performance.now() - start} ms`);
    assert.deepEqual(decoded.ok ? [] : decoded.errors.map((error) => error.rule), [rule]);
  });

test('unknown fields, duplicate keys and fields of other versions are warnings', () => {
  const decoded = decode(
    bytes(`${HEADER}maxPods: 5\nmaxPods: 6\nmaxpods: 7\npodLogsDir: /a\n__proto__: {a: 1}\n`),
    parseKubeletVersion('1.20'),
  );
  assert.ok(decoded.ok);
  assert.equal(decoded.written['maxPods'], 6);
  const warned = decoded.warnings.map(({ field, rule }) => `${field} ${rule}`);
  assert.deepEqual(warned, ['maxPods duplicate-key', 'maxpods unknown-field', 'podLogsDir unknown-to-version', '__proto__ unknown-field']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '../../../../agent/checkpoint/source.ts';
import { parseSource, serializeSource, yamlString } from '../../../../agent/store/serialized.ts';
import { readFileSync } from 'node:fs';

const source: Source = { namespace: 'ns', name: 'n', uid: 'u', resourceVersion: '1', kubeletConfigKey: 'kubelet' };
const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: SerializedNodeConfigSource\n';
const body =
  'source:\n  configMap:\n    kubeletConfigKey: kubelet\n    name: "n"\n    namespace: ns\n    resourceVersion: "1"\n    uid: u\n';
const read = (text: string) => parseSource(new TextEncoder().encode(text));

test('a source is written with sorted keys and a newline at its end', () => {
  assert.equal(serializeSource(source), head + body);
  assert.equal(serializeSource(null), '');
});

// prettier-ignore
const same = [
  { why: 'as written', text: head + body },
  { why: 'as JSON', text: JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'SerializedNodeConfigSource', source: { configMap: source } }) },
  { why: 'with carriage returns', text: (head + body).replaceAll('\n', '\r\n') },
];
for (const { why, text } of same) test(`a meta file is read ${why}`, () => assert.deepEqual(read(text), { ok: true, source }));

test('no bytes are the local config', () => assert.deepEqual(read(''), { ok: true, source: null }));

const refused = [
  { why: 'another kind', text: (head + body).replace('SerializedNodeConfigSource', 'Node') },
  { why: 'a number for a resourceVersion', text: head + body.replace('"1"', '1') },
  { why: 'half a file', text: (head + body).slice(0, 70) },
  { why: 'deep nesting', text: '['.repeat(60_000) },
  { why: 'no configMap', text: `${head}source: {}\n` },
  { why: 'a list for a uid', text: head + body.replace('uid: u', 'uid: [u]') },
  { why: 'broken YAML', text: `${head}source: {` },
  { why: 'aliases that multiply', text: `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\n` },
];
for (const { why, text } of refused)
  test(`a meta file with ${why} is damaged`, () => {
    const parsed = read(text);
    assert.ok(!parsed.ok);
    assert.ok(parsed.problem.length < 100);
  });

test('a meta file that is not UTF-8 is damaged', () => assert.equal(parseSource(Uint8Array.of(0x61, 0xff)).ok, false));

// What the YAML writer that upstream's kubelet uses made of these words (sigs.k8s.io/yaml as vendored in v1.20).
const upstream = JSON.parse(
  readFileSync(new URL('../../../../fixtures/store/upstream-yaml-strings.json', import.meta.url), 'utf8'),
) as readonly (readonly [string, string])[];

test('strings are quoted exactly where the writer of upstream quotes them', () => {
  assert.ok(upstream.length > 300);
  for (const [text, written] of upstream) assert.equal(yamlString(text), written, JSON.stringify(text));
});

test('what could break out of a line is refused', () => {
  for (const text of ['a b', 'a\nb', 'é']) assert.throws(() => yamlString(text), RangeError);
});

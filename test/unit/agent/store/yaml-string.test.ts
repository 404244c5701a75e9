import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { yamlString } from '../../../../agent/store/serialized.ts';

// What the YAML writer that upstream's kubelet uses made of these words (sigs.k8s.io/yaml as vendored in v1.20).
const upstream = JSON.parse(
  readFileSync(new URL('../../../../fixtures/store/upstream-yaml-strings.json', import.meta.url), 'utf8'),
) as readonly (readonly [string, string])[];

test('strings are quoted exactly where the writer of upstream quotes them', () => {
  assert.ok(upstream.length > 300);
  for (const [text, written] of upstream) assert.equal(yamlString(text), written, JSON.stringify(text));
});

test('what could break out of a line is refused', () => {
  for (const text of ['a b', 'a\nb', 'a\tb', 'é', '\u0000', '\ud800']) assert.throws(() => yamlString(text), RangeError);
});

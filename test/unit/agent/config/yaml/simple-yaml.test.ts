import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSimpleYaml } from '../../../../../agent/config/yaml/read-simple-yaml.ts';
import { readYaml } from '../../../../../agent/config/yaml/read-yaml.ts';
import { seededRandom } from '../../../../../base/random.ts';
import { mutatedTexts } from '../../../../suites/kubelet/mutations.ts';

const dir = join(import.meta.dirname, '../../../../../fixtures/kubelet-config');
const fixtures = ['good', 'bad'].flatMap((kind) =>
  readdirSync(join(dir, kind))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(dir, kind, name), 'utf8')),
);

test('texts with a slip of the pen that are simple read as the full reader reads them', () => {
  let simple = 0;
  for (const text of mutatedTexts(seededRandom(7), fixtures).take(3000)) {
    const value = readSimpleYaml(text);
    if (value === undefined) continue;
    const full = readYaml(text);
    assert.deepEqual({ value, duplicates: [] }, { value: full.value, duplicates: full.duplicates.paths }, JSON.stringify(text));
    simple++;
  }
  assert.ok(simple > 900);
});

// prettier-ignore
const simple: [text: string, value: unknown][] = [
  ['a: 1', { a: 1 }],
  ['---\n# x\n\na: 0644 # octal\nb: on\nc:\nd: ~\ne: "on"\nf: \'a: b\'\ng: ""', { a: 420, b: true, c: null, d: null, e: 'on', f: 'a: b', g: '' }],
  ['a:\n  b:\n    c: 1\n  d: 2\ne: 3', { a: { b: { c: 1 }, d: 2 }, e: 3 }],
  ['a:\n- b: 1\n  c: 2\n- b: 3\n  c:\n  - 4', { a: [{ b: 1, c: 2 }, { b: 3, c: [4] }] }],
  ['a: []\nb: {}\nc: [1, "x"]\nd: {e: 5%, f: no}', { a: [], b: {}, c: [1, 'x'], d: { e: '5%', f: false } }],
  ['a: { b: 100m, c: no }\nd: [ 1, x ]\ne: { }', { a: { b: '100m', c: false }, d: [1, 'x'], e: {} }],
];
// The full reader decides on these: some are fine, some are broken, and some are read differently by different readers.
// prettier-ignore
const left = [
  ['', '# a', 'a', '- a', 'a: 1\na: 2', 'a: b: c', 'a: 1\n b: 2', 'a:\n  b: 1\n c: 2', '  a: 1\nb: 2', 'a: x\n  y', 'on: 1', 'a: .inf'],
  ['a: |\n  x', 'a: &b 1', 'a: *b', 'a: !!str 1', 'a: "\\n"', "a: 'it''s'", 'a: \u00e9', 'a:\tb', 'a: 1\r\nb: 2', '<<: {a: 1}', '? a\n: 1'],
  ['a: [b, [c]]', 'a: {b: {c: 1}}', 'a: [b,c]', 'a: {b: 1, b: 2}', 'a: {b}', 'a: [b: c]', 'a: [', 'a: -', 'a:\n-', 'a:\n- - b', 'a:\n-  b: 1\n   c: 2'],
  ['a: 1\n---\nb: 2', 'a: 1\n...', '%YAML 1.1\n---\na: 1', 'a: b#c', 'a: "b"#c', 'a: "b" c', 'a: b:', '__proto__: 1', 'a : 1', '"a": 1', '\n'.repeat(20_001)],
  `${Array.from({ length: 80 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')} 1`,
].flat();
for (const [text, value] of [...simple, ...left.map((text) => [text, undefined] as const)]) {
  test(`${JSON.stringify(text.slice(0, 60))} is ${value === undefined ? 'left to the full reader' : 'simple'}`, () =>
    assert.deepEqual(readSimpleYaml(text), value));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { plainScalar } from '../../../agent/config/yaml/scalar.ts';
import { customColumnsText, namesText, paintFor, scriptText, table } from '../../../cli/output/output.ts';
import { jsonText, yamlText } from '../../../cli/output/printable.ts';
import { UsageError } from '../../../cli/failure.ts';
import { jsonPathText } from '../../../cli/output/jsonpath.ts';
import type { Args } from '../../../cli/args/args.ts';
import { runCli } from '../../support/cli-context.ts';

const plain = { wide: false, paint: paintFor({ env: {} }, { isTTY: false }), columns: undefined };
const columns = [
  { title: 'NAME', value: (row: { name: string; size: string }) => row.name },
  { title: 'SIZE', value: (row: { name: string; size: string }) => row.size, wide: true },
  { title: 'LAST', value: () => '' },
];

test('a table has upper-case heads, three blanks between columns, no borders and no trailing blanks', async () => {
  const rows = [
    { name: 'a', size: '1' },
    { name: 'longer', size: '22' },
  ];
  assert.equal(await table(columns, rows, plain), 'NAME     LAST\na        -\nlonger   -\n');
  assert.equal(await table(columns, rows, { ...plain, wide: true }), 'NAME     SIZE   LAST\na        1      -\nlonger   22     -\n');
});

test('no control character of a cell reaches the terminal', async () => {
  const text = await table(columns, [{ name: 'a\u001b[2Jb\nc\u009b\u202e', size: '' }], plain);
  assert.match(text, /^a\\u001b\[2Jb c\\u009b\\u202e/m);
});

test('colours need a terminal and no NO_COLOR', () => {
  const painted = (env: Record<string, string>, isTTY: boolean) => paintFor({ env }, { isTTY }).red('x') !== 'x';
  assert.equal(painted({}, true), true);
  assert.equal(painted({}, false), false);
  assert.equal(painted({ NO_COLOR: '1' }, true), false);
  assert.equal(painted({ NO_COLOR: '' }, true), true);
});

test('json keeps big integers exact and hides no control character from a parser', () => {
  const data = { big: 9007199254740993n, text: 'a\u001b\u009b\u2028\t' };
  const text = jsonText(data);
  assert.equal(text, '{\n  "big": 9007199254740993,\n  "text": "a\\u001b\\u009b\\u2028\\t"\n}\n');
  assert.equal((JSON.parse(text) as typeof data).text, data.text);
});

// kubectl reads 1.1 as Go's libraries do; what it would take for another value has quotes, a key too.
test('yaml reads back as the same values where yes, on and 1_000 are no strings', () => {
  const odd = 'yes No on y N OFF 1_000 0b11 0o17 0o1_7 0777 1e+3_0 1:30 2026-01-01 << = ~'.split(' ');
  const data = { ...Object.fromEntries(odd.map((text) => [text, text])), list: odd };
  const text = yamlText(data);
  for (const version of ['1.1', '1.2'] as const) assert.deepEqual(parse(text, { version }), data);
  for (const [, , plain = ''] of text.matchAll(/^( *- |[^:]+: )([^"'\n]+)$/gm)) assert.equal(plainScalar(plain), plain);
  assert.equal(yamlText({ version: '1.36.3', at: '127.0.0.1:80' }), 'version: 1.36.3\nat: 127.0.0.1:80\n'); // no quotes without need
});

test('objects of the API are shown as kubectl shows them: without managedFields, and named by kind and group', async () => {
  const object = {
    apiVersion: 'dkc.dev/v1alpha1',
    kind: 'NodeConfigRollout',
    metadata: { name: 'web', managedFields: [{ manager: 'dkc' }] },
  };
  const shown = async (output: string, data: unknown) => scriptText({ text: () => output } as unknown as Args, data);
  for (const format of ['json', 'jsonpath={.metadata}'])
    for (const data of [object, [object]]) assert.doesNotMatch((await shown(format, data)) ?? '', /managedFields/);
  const named = await shown('name', [object, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }]);
  assert.equal(named, 'nodeconfigrollout.dkc.dev/web\nnode/a\n');
});

test('version prints the contract, in each format', async () => {
  const data = { version: '1.2.3', commit: 'abc', node: '24.0.0' };
  assert.deepEqual(JSON.parse((await runCli(['version', '-o', 'json'])).stdout), data);
  assert.equal((await runCli(['version'])).stdout, 'dkc 1.2.3 (abc), Node.js 24.0.0\n');
  assert.deepEqual((await runCli(['--version'])).stdout, 'dkc 1.2.3 (abc), Node.js 24.0.0\n');
});

const source = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '7', kubeletConfigKey: 'kubelet' };
const nodes = [
  { node: 'a', state: 'trusted', assigned: source, error: null, carrier: 'node', left: 3 },
  { node: 'b', state: 'trial', assigned: null, error: null, carrier: 'node', left: 40 },
];
const odd = { 'a.b': { c: 1 }, list: [10, 20, 30], text: 'x"y', deep: { yes: true } };

const templates = [
  { of: nodes, template: '{[*].node}', prints: 'a b' },
  { of: nodes, template: '{[0].assigned.name}', prints: 'web' },
  { of: nodes, template: '{[-1].node}', prints: 'b' },
  { of: nodes, template: '[0].node', prints: 'a' },
  { of: nodes, template: '{range [*]}{.node}{"\\t"}{.state}{"\\n"}{end}', prints: 'a\ttrusted\nb\ttrial\n' },
  { of: nodes, template: '{[?(@.state=="trial")].node}', prints: 'b' },
  { of: nodes, template: "{[?(@.left>3)]['node']}", prints: 'b' },
  { of: nodes, template: '{[?(@.assigned)].node}', prints: 'a' },
  { of: nodes, template: 'nodes: {[*].left}!', prints: 'nodes: 3 40!' },
  { of: nodes, template: '{[0].nope.nope}', prints: '' },
  { of: odd, template: '{.list[0:2]}', prints: '10 20' },
  { of: odd, template: "{['a.b'].c}", prints: '1' },
  { of: odd, template: '{.a\\.b.c}', prints: '1' },
  { of: odd, template: '{$.deep.yes}{"}"}', prints: 'true}' },
  { of: odd, template: '{.__proto__}{.constructor}', prints: '' },
];
for (const { of, template, prints } of templates) test(`jsonpath ${template}`, () => assert.equal(jsonPathText(template, of), prints));

const mistakes = [
  { template: '', says: 'empty' },
  { template: '{.a', says: 'unclosed {' },
  { template: '{end}', says: '{end} without {range}' },
  { template: '{range [*]}', says: '{range} without {end}' },
  { template: '{..node}', says: 'recursion' },
  { template: '{[x]}', says: 'cannot parse' },
  { template: '{[?(@.a==b)]}', says: 'a filter must compare with' },
  { template: '[?('.repeat(50), says: 'nested' },
  { template: 'x'.repeat(20_000), says: 'longer than' },
];
for (const { template, says } of mistakes)
  test(`jsonpath ${template.slice(0, 30)} is a mistake`, () =>
    assert.throws(() => jsonPathText(template, nodes), (error: Error) => error instanceof UsageError && error.message.includes(says))); // prettier-ignore

test('values that a path multiplies end in a line of their own, not in a full memory', () => {
  const wide = { list: Array.from({ length: 2000 }, () => Array.from({ length: 2000 }, () => 1)) };
  assert.throws(() => jsonPathText('{.list[*][*]}', wide), /more than 1000000 values/);
});

test('no control character of a value reaches the terminal', () => {
  assert.equal(jsonPathText('{.a}{"\\n"}', { a: '\u001b[2J' }), '\\u001b[2J\n');
});

test('custom columns', () => {
  assert.equal(customColumnsText('NODE:.node,CM:.assigned.name,X:{.nope}', nodes, false), 'NODE   CM       X\na      web      <none>\nb      <none>   <none>\n'); // prettier-ignore
  assert.equal(customColumnsText('N:.node', nodes, true), 'a\nb\n');
  assert.throws(() => customColumnsText('NODE', nodes, false), UsageError);
  assert.throws(() => customColumnsText('NODE:', nodes, false), UsageError);
});

test('names', () => {
  assert.equal(namesText(nodes), 'node/a\nnode/b\n');
  assert.equal(namesText([{ source }, { source: null }]), 'dkc-system/web:kubelet@7\nlocal\n');
  assert.equal(namesText([{ field: 'maxPods', from: 1, to: 2 }, { field: 'maxPods' }]), 'maxPods\n', 'each name once');
  assert.throws(() => namesText({ a: 1 }), UsageError);
});

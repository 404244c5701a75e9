import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/failure.ts';
import { customColumnsText, namesText } from '../../../cli/output/output.ts';
import { jsonPathText } from '../../../cli/output/jsonpath.ts';

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
  { of: odd, template: '{.list}', prints: '[10,20,30]' },
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
  { template: '{..node}', says: 'recursion' },
  { template: '{[x]}', says: 'cannot parse' },
  { template: '{[?(@.a==b)]}', says: 'a filter must compare with' },
  { template: '{range [*]}'.repeat(20), says: 'nested' },
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
  assert.equal(namesText([{ field: 'maxPods', from: 1, to: 2 }]), 'maxPods\n');
  assert.equal(namesText([]), '');
  assert.throws(() => namesText({ a: 1 }), UsageError);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import type { SelectorMismatch } from '../../../../kube/api/node-selector.ts';
import { matchesNodeAffinity, matchesNodeSelector } from '../../../../kube/api/node-selector.ts';

const labels = { disk: 'ssd', zone: '', cores: '16', old: '007', huge: '9223372036854775807', beyond: '9223372036854775808', 'a.b/c': 'd' };
const node = { name: 'n1', labels };

const selectors: { why: string; selector: Record<string, string> | undefined; mismatch: SelectorMismatch | undefined }[] = [
  { why: 'asks for nothing', selector: undefined, mismatch: undefined },
  { why: 'is empty', selector: {}, mismatch: undefined },
  { why: 'has every label', selector: { disk: 'ssd', 'a.b/c': 'd' }, mismatch: undefined },
  { why: 'wants an empty value that is there', selector: { zone: '' }, mismatch: undefined },
  { why: 'wants an empty value of an absent label', selector: { absent: '' }, mismatch: { key: 'absent', wanted: '', found: undefined } },
  { why: 'finds another value', selector: { disk: 'hdd' }, mismatch: { key: 'disk', wanted: 'hdd', found: 'ssd' } },
  {
    why: 'names the first that is missing',
    selector: { disk: 'ssd', gpu: 'yes', zone: 'z' },
    mismatch: { key: 'gpu', wanted: 'yes', found: undefined },
  },
  {
    why: 'does not take what every object has for a label',
    selector: { toString: 'x' },
    mismatch: { key: 'toString', wanted: 'x', found: undefined },
  },
];
for (const { why, selector, mismatch } of selectors) {
  test(`node selector ${why}`, () => assert.deepEqual(matchesNodeSelector(selector, labels), mismatch));
}
test('node selector finds nothing on a node without labels', () => {
  assert.deepEqual(matchesNodeSelector({ disk: 'ssd' }, undefined), { key: 'disk', wanted: 'ssd', found: undefined });
});

/** `key operator value,value`; with `@` before the key it is a field. */
function requirement(text: string): NodeSelectorRequirement {
  const [key = '', operator = '', values] = text.replace('@', '').split(' ');
  return { key, operator, ...(values !== undefined && { values: values.split(',') }) };
}
function term(text: string): NodeSelectorTerm {
  const all = text.split(' & ').filter((one) => one !== '');
  const of = (field: boolean) => all.filter((one) => one.startsWith('@') === field).map(requirement);
  return { matchExpressions: of(false), matchFields: of(true) };
}

const terms = [
  { why: 'In, and it is', term: 'disk In hdd,ssd', matches: true },
  { why: 'In, and it is not', term: 'disk In hdd', matches: false },
  { why: 'In of an absent label', term: 'gpu In a', matches: false },
  { why: 'NotIn, and it is not', term: 'disk NotIn hdd', matches: true },
  { why: 'NotIn, and it is', term: 'disk NotIn hdd,ssd', matches: false },
  { why: 'NotIn of an absent label', term: 'gpu NotIn a', matches: true },
  { why: 'Exists', term: 'zone Exists', matches: true },
  { why: 'Exists of an absent label', term: 'gpu Exists', matches: false },
  { why: 'DoesNotExist of an absent label', term: 'gpu DoesNotExist', matches: true },
  { why: 'DoesNotExist', term: 'zone DoesNotExist', matches: false },
  { why: 'Gt, and it is more', term: 'cores Gt 9', matches: true },
  { why: 'Gt, and it is as much', term: 'cores Gt 16', matches: false },
  { why: 'Lt, and it is less', term: 'cores Lt 17', matches: true },
  { why: 'Lt, and it is as much', term: 'cores Lt 16', matches: false },
  { why: 'Gt with zeros in front', term: 'old Gt 6', matches: true },
  { why: 'Gt beyond what a double tells apart', term: 'huge Gt 9223372036854775806', matches: true },
  { why: 'a label beyond 64 bits is no integer', term: 'beyond Gt 1', matches: false },
  { why: 'a bound beyond 64 bits is no integer', term: 'cores Lt 9223372036854775808', matches: false },
  { why: 'Gt of an absent label', term: 'gpu Gt 1', matches: false },
  { why: 'Lt of a label that is no number', term: 'disk Lt 1', matches: false },
  { why: 'Gt of a word', term: 'cores Gt few', matches: false },
  { why: 'Gt of a negative number, which no label can be', term: 'cores Gt -1', matches: false },
  { why: 'Gt of two numbers', term: 'cores Gt 1,2', matches: false },
  { why: 'Gt of none', term: 'cores Gt', matches: false },
  { why: 'In of none', term: 'disk In', matches: false },
  { why: 'NotIn of none', term: 'gpu NotIn', matches: false },
  { why: 'Exists with values', term: 'disk Exists ssd', matches: false },
  { why: 'DoesNotExist with values', term: 'gpu DoesNotExist a', matches: false },
  { why: 'an operator that nobody knows', term: 'disk Like ssd', matches: false },
  { why: 'a key that is no label', term: 'a/b/c DoesNotExist', matches: false },
  { why: 'a key with a prefix', term: 'a.b/c In d', matches: true },
  { why: 'a value that no label can have, even where another fits', term: 'disk In ssd,a!b', matches: false },
  { why: 'a value that no label can have, in NotIn', term: 'disk NotIn a!b', matches: false },
  { why: 'both hold', term: 'disk In ssd & zone Exists', matches: true },
  { why: 'one of two does not hold', term: 'disk In ssd & gpu Exists', matches: false },
  { why: 'the name', term: '@metadata.name In n1', matches: true },
  { why: 'another name', term: '@metadata.name In n2', matches: false },
  { why: 'not another name', term: '@metadata.name NotIn n2', matches: true },
  { why: 'not the name', term: '@metadata.name NotIn n1', matches: false },
  { why: 'two names at once', term: '@metadata.name In n1,n2', matches: false },
  { why: 'no name at all', term: '@metadata.name NotIn', matches: false },
  { why: 'a name that exists', term: '@metadata.name Exists', matches: false },
  { why: 'a field that is not the name', term: '@spec.unschedulable NotIn true', matches: false },
  { why: 'name and label', term: '@metadata.name In n1 & disk In ssd', matches: true },
  { why: 'the name, and another label', term: '@metadata.name In n1 & disk In hdd', matches: false },
  { why: 'the label, and another name', term: '@metadata.name In n2 & disk In ssd', matches: false },
  { why: 'an empty term', term: '', matches: false },
];
for (const c of terms) {
  test(`affinity by ${c.why} ${c.matches ? 'matches' : 'does not match'}`, () => {
    const required = { nodeSelectorTerms: [term(c.term)] };
    assert.equal(matchesNodeAffinity(required, node), c.matches);
    assert.equal(matchesNodeAffinity(required, node), c.matches, 'and the second look says the same');
  });
}

const lists: { why: string; required: NodeSelector | null | undefined; matches: boolean }[] = [
  { why: 'that is absent', required: undefined, matches: true },
  { why: 'that is null', required: null, matches: true },
  { why: 'without terms', required: { nodeSelectorTerms: [] }, matches: false },
  { why: 'of an empty object', required: {} as NodeSelector, matches: false },
  { why: 'of a term with nothing in it', required: { nodeSelectorTerms: [{}] }, matches: false },
  { why: 'of two terms, the second matching', required: { nodeSelectorTerms: [term('disk In hdd'), term('disk In ssd')] }, matches: true },
  { why: 'of two terms, none matching', required: { nodeSelectorTerms: [term('disk In hdd'), term('gpu Exists')] }, matches: false },
  {
    why: 'of a term that cannot be read, and one that matches',
    required: { nodeSelectorTerms: [term('disk Like ssd'), term('disk In ssd')] },
    matches: true,
  },
  { why: 'of an empty term, and one that matches', required: { nodeSelectorTerms: [{}, term('disk In ssd')] }, matches: true },
];
for (const { why, required, matches } of lists) {
  test(`affinity ${why} ${matches ? 'matches' : 'does not match'}`, () => assert.equal(matchesNodeAffinity(required, node), matches));
}
test('affinity on a node without labels', () => {
  const bare = { name: 'n1', labels: undefined };
  assert.equal(matchesNodeAffinity({ nodeSelectorTerms: [term('disk Exists')] }, bare), false);
  assert.equal(matchesNodeAffinity({ nodeSelectorTerms: [term('disk DoesNotExist')] }, bare), true);
});

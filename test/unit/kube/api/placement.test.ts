import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import {
  firstUntolerated,
  matchesNodeAffinity,
  matchesNodeSelector,
  mergeTolerations,
  refusingEffects,
  type SelectorMismatch,
  toleratesTaint,
} from '../../../../kube/api/placement.ts';

const labels = { disk: 'ssd', zone: '', cores: '16', old: '007', huge: '9223372036854775807', beyond: '9223372036854775808', 'a.b/c': 'd' };
const node = { name: 'n1', labels };

const selectors: [why: string, selector: Record<string, string> | undefined, mismatch?: SelectorMismatch][] = [
  ['asks for nothing', undefined],
  ['is empty', {}],
  ['has every label', { disk: 'ssd', 'a.b/c': 'd' }],
  ['wants an empty value that is there', { zone: '' }],
  ['wants an empty value of an absent label', { absent: '' }, { key: 'absent', wanted: '', found: undefined }],
  ['finds another value', { disk: 'hdd' }, { key: 'disk', wanted: 'hdd', found: 'ssd' }],
  ['names the first that is missing', { disk: 'ssd', gpu: 'yes', zone: 'z' }, { key: 'gpu', wanted: 'yes', found: undefined }],
  ['does not take what every object has for a label', { toString: 'x' }, { key: 'toString', wanted: 'x', found: undefined }],
];
for (const [why, selector, mismatch] of selectors) {
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

const taint: Taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const bare: Taint = { key: 'k', effect: 'NoExecute' };

// An operator with its value, the value of a taint, and whether the first tolerates the second.
const compared = [
  ['Gt', '4', '5', true],
  ['Gt', '5', '5', false],
  ['Gt', '6', '5', false],
  ['Gt', '-1', '0', true],
  ['Gt', '4', '9223372036854775807', true],
  ['Gt', '4', '9223372036854775808', false],
  ['Gt', '4', 'abc', false],
  ['Gt', '4', undefined, false],
  ['Lt', '10', '5', true],
  ['Lt', '10', '9', true],
  ['Lt', '5', '5', false],
  ['Lt', '10', '007', false],
  ['Lt', '007', '5', false],
  ['Lt', '10', '5.0', false],
] as const;
const tolerations: { why: string; toleration: Toleration; taint: Taint; tolerates: boolean }[] = [
  { why: 'the same in all', toleration: { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }, taint, tolerates: true },
  { why: 'without an operator, the value', toleration: { key: 'k', value: 'v' }, taint, tolerates: true },
  { why: 'with an empty operator, the value', toleration: { key: 'k', operator: '', value: 'v' }, taint, tolerates: true },
  { why: 'another value', toleration: { key: 'k', value: 'w' }, taint, tolerates: false },
  { why: 'no value where the taint has one', toleration: { key: 'k' }, taint, tolerates: false },
  { why: 'no value where the taint has none', toleration: { key: 'k', value: '' }, taint: bare, tolerates: true },
  { why: 'the key that exists', toleration: { key: 'k', operator: 'Exists' }, taint, tolerates: true },
  { why: 'another key that exists', toleration: { key: 'l', operator: 'Exists' }, taint, tolerates: false },
  { why: 'everything', toleration: { operator: 'Exists' }, taint, tolerates: true },
  { why: 'everything, with an empty key', toleration: { key: '', operator: 'Exists' }, taint: bare, tolerates: true },
  { why: 'every key of one effect', toleration: { operator: 'Exists', effect: 'NoExecute' }, taint: bare, tolerates: true },
  { why: 'every key of another effect', toleration: { operator: 'Exists', effect: 'NoExecute' }, taint, tolerates: false },
  { why: 'another effect', toleration: { key: 'k', value: 'v', effect: 'NoExecute' }, taint, tolerates: false },
  { why: 'an empty effect', toleration: { key: 'k', value: 'v', effect: '' }, taint, tolerates: true },
  { why: 'a value without a key', toleration: { operator: 'Equal', value: 'v' }, taint, tolerates: false },
  { why: 'by an operator that nobody knows', toleration: { key: 'k', operator: 'Like', value: 'v' }, taint, tolerates: false },
  ...compared.map(([operator, than, value, tolerates]) => ({
    why: `${operator} ${than}, of a taint with value ${value},`,
    toleration: { key: 'k', operator, value: than },
    taint: { key: 'k', effect: 'NoSchedule', ...(value !== undefined && { value }) },
    tolerates,
  })),
  { why: 'Gt of another key', toleration: { key: 'l', operator: 'Gt', value: '4' }, taint: { ...taint, value: '5' }, tolerates: false },
  { why: 'for a while', toleration: { key: 'k', operator: 'Exists', tolerationSeconds: 0 }, taint: bare, tolerates: true },
];
for (const c of tolerations) {
  test(`toleration of ${c.why} ${c.tolerates ? 'tolerates' : 'does not tolerate'}`, () => {
    assert.equal(toleratesTaint(c.toleration, c.taint), c.tolerates);
  });
}

const of = (text: string): Taint[] =>
  text.split(' ').map((one) => {
    const [key = '', effect = ''] = one.split(':');
    return { key, effect };
  });
const firsts = [
  { why: 'in the order of the node', taints: 'a:NoSchedule b:NoExecute', tolerates: [], found: 'a' },
  { why: 'after those that are tolerated', taints: 'a:NoSchedule b:NoExecute', tolerates: ['a'], found: 'b' },
  { why: 'none when all are tolerated', taints: 'a:NoSchedule b:NoExecute', tolerates: ['b', 'a'], found: undefined },
  { why: 'not one of another effect', taints: 'a:PreferNoSchedule', tolerates: [], found: undefined },
];
for (const c of firsts) {
  test(`first untolerated taint: ${c.why}`, () => {
    const tolerated = c.tolerates.map((key): Toleration => ({ key, operator: 'Exists' }));
    assert.equal(firstUntolerated(of(c.taints), tolerated, refusingEffects)?.key, c.found);
  });
}
test('first untolerated taint: none of no taints, each without tolerations', () => {
  assert.equal(firstUntolerated(undefined, undefined, refusingEffects), undefined);
  assert.equal(firstUntolerated([taint], undefined, refusingEffects), taint);
});

const short: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 };
const ever: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
const other: Toleration = { key: 'x', operator: 'Exists' };
const implied: Toleration = { key: 'k', value: 'v' };
const spelled: Toleration = { key: 'k', operator: 'Equal', value: 'v', tolerationSeconds: 9 };
const elsewhere: Toleration = { ...short, effect: 'NoSchedule' };
const merges: [why: string, own: Toleration[] | undefined, added: Toleration[], merged: Toleration[]][] = [
  ['appends to none', undefined, [ever], [ever]],
  ['keeps own ones in front', [other], [ever], [other, ever]],
  ['replaces in place, duration and all', [short, other], [ever], [ever, other]],
  ['keeps own duplicates', [other, other], [ever], [other, other, ever]],
  ['replaces each of two of its kind', [short, ever], [ever], [ever, ever]],
  ['takes no operator for Equal', [implied], [spelled], [spelled]],
  ['tells keys apart', [{ ...ever, key: 'x' }], [ever], [{ ...ever, key: 'x' }, ever]],
  ['tells effects apart', [elsewhere], [ever], [elsewhere, ever]],
  ['tells values apart', [{ ...implied, value: 'w' }], [implied], [{ ...implied, value: 'w' }, implied]],
  ['tells operators apart', [{ key: 'k' }], [{ key: 'k', operator: 'Exists' }], [{ key: 'k' }, { key: 'k', operator: 'Exists' }]],
];
for (const [why, own, added, merged] of merges) {
  test(`merging tolerations ${why}`, () => {
    const before = structuredClone(own);
    assert.deepEqual(mergeTolerations(own, added), merged);
    assert.deepEqual(own, before, 'what was given stays as it was');
  });
}

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
import { table } from '../../../support/table.ts';

const labels = { disk: 'ssd', zone: '', cores: '16', old: '007', huge: '9223372036854775807', beyond: '9223372036854775808', 'a.b/c': 'd' };
const node = { name: 'n1', labels };

const selectors: [why: string, selector: Record<string, string> | undefined, mismatch?: SelectorMismatch][] = [
  ['asks for nothing', undefined],
  ['has every label', { disk: 'ssd', 'a.b/c': 'd', zone: '' }],
  ['wants an empty value of an absent label', { absent: '' }, { key: 'absent', wanted: '', found: undefined }],
  ['finds another value', { disk: 'hdd' }, { key: 'disk', wanted: 'hdd', found: 'ssd' }],
  ['does not take what every object has for a label', { toString: 'x' }, { key: 'toString', wanted: 'x', found: undefined }],
];
for (const [why, selector, mismatch] of selectors)
  test(`node selector ${why}`, () => assert.deepEqual(matchesNodeSelector(selector, labels), mismatch));

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

const terms = table('why | term | matches')(`
  In, and it is                      | disk In hdd,ssd               | yes
  In of an absent label              | gpu In a                      | no
  NotIn, and it is not               | disk NotIn hdd                | yes
  NotIn, and it is                   | disk NotIn hdd,ssd            | no
  NotIn of an absent label           | gpu NotIn a                   | yes
  Exists                             | zone Exists                   | yes
  Exists of an absent label          | gpu Exists                    | no
  DoesNotExist of an absent label    | gpu DoesNotExist              | yes
  DoesNotExist                       | zone DoesNotExist             | no
  Gt, and it is more                 | cores Gt 9                    | yes
  Gt, and it is as much              | cores Gt 16                   | no
  Lt, and it is less                 | cores Lt 17                   | yes
  Gt with zeros in front             | old Gt 6                      | yes
  Gt beyond what a double tells apart | huge Gt 9223372036854775806  | yes
  a label beyond 64 bits             | beyond Gt 1                   | no
  a bound beyond 64 bits             | cores Lt 9223372036854775808  | no
  Gt of an absent label              | gpu Gt 1                      | no
  Lt of a label that is no number    | disk Lt 1                     | no
  Gt of a word                       | cores Gt few                  | no
  Gt of two numbers                  | cores Gt 1,2                  | no
  In of none                         | disk In                       | no
  Exists with values                 | disk Exists ssd               | no
  an operator that nobody knows      | disk Like ssd                 | no
  a key that is no label             | a/b/c DoesNotExist            | no
  a value that no label can have     | disk In ssd,a!b               | no
  one of two that does not hold      | disk In ssd & gpu Exists      | no
  the name                           | @metadata.name In n1          | yes
  not the name                       | @metadata.name NotIn n1       | no
  two names at once                  | @metadata.name In n1,n2       | no
  a name that exists                 | @metadata.name Exists         | no
  a field that is not the name       | @spec.unschedulable NotIn true | no
  name and label                     | @metadata.name In n1 & disk In ssd | yes
  the name, and another label        | @metadata.name In n1 & disk In hdd | no
  an empty term                      |                               | no
`);
for (const { why, term: text, matches } of terms)
  test(`affinity by ${why} ${matches === 'yes' ? 'matches' : 'does not match'}`, () => {
    const required = { nodeSelectorTerms: [term(text)] };
    // The second look is answered from memory.
    for (const _ of [1, 2]) assert.equal(matchesNodeAffinity(required, node), matches === 'yes');
  });

const lists: [why: string, required: NodeSelector | null | undefined, matches: boolean][] = [
  ['that is absent', undefined, true],
  ['that is null', null, true],
  ['without terms', { nodeSelectorTerms: [] }, false],
  ['of an empty object', {} as NodeSelector, false],
  ['of two terms, none matching', { nodeSelectorTerms: [term('disk In hdd'), term('gpu Exists')] }, false],
  ['of a term that cannot be read, and one that matches', { nodeSelectorTerms: [term('disk Like ssd'), term('disk In ssd')] }, true],
  ['of an empty term, and one that matches', { nodeSelectorTerms: [{}, term('disk In ssd')] }, true],
];
for (const [why, required, matches] of lists)
  test(`affinity ${why} ${matches ? 'matches' : 'does not match'}`, () => assert.equal(matchesNodeAffinity(required, node), matches));

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
  ['Gt', '-1', '0', true],
  ['Gt', '4', '9223372036854775808', false],
  ['Gt', '4', 'abc', false],
  ['Gt', '4', undefined, false],
  ['Lt', '10', '9', true],
  ['Lt', '5', '5', false],
  ['Lt', '10', '007', false],
  ['Lt', '007', '5', false],
] as const;
const tolerations: [why: string, toleration: Toleration, taint: Taint, tolerates: boolean][] = [
  ['the same in all', { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }, taint, true],
  ['without an operator, the value', { key: 'k', value: 'v' }, taint, true],
  ['another value', { key: 'k', value: 'w' }, taint, false],
  ['no value where the taint has one', { key: 'k' }, taint, false],
  ['no value where the taint has none', { key: 'k', value: '' }, bare, true],
  ['the key that exists', { key: 'k', operator: 'Exists' }, taint, true],
  ['another key that exists', { key: 'l', operator: 'Exists' }, taint, false],
  ['everything', { operator: 'Exists' }, taint, true],
  ['every key of another effect', { operator: 'Exists', effect: 'NoExecute' }, taint, false],
  ['another effect', { key: 'k', value: 'v', effect: 'NoExecute' }, taint, false],
  ['a value without a key', { operator: 'Equal', value: 'v' }, taint, false],
  ['by an operator that nobody knows', { key: 'k', operator: 'Like', value: 'v' }, taint, false],
  ['Gt of another key', { key: 'l', operator: 'Gt', value: '4' }, { ...taint, value: '5' }, false],
];
for (const [operator, than, value, tolerates] of compared) {
  const of: Taint = { key: 'k', effect: 'NoSchedule', ...(value !== undefined && { value }) };
  tolerations.push([`${operator} ${than}, of a taint with value ${value},`, { key: 'k', operator, value: than }, of, tolerates]);
}
for (const [why, toleration, of, tolerates] of tolerations)
  test(`toleration of ${why} ${tolerates ? 'tolerates' : 'does not tolerate'}`, () =>
    assert.equal(toleratesTaint(toleration, of), tolerates));

test('the first untolerated taint is found in the order of the node, among effects that refuse', () => {
  const [a, b, soft]: Taint[] = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', effect: 'NoExecute' },
    { key: 'c', effect: 'PreferNoSchedule' },
  ];
  assert.ok(a && b && soft);
  const first = (keys: string[]) =>
    firstUntolerated([soft, a, b], keys.map((key) => ({ key, operator: 'Exists' })), refusingEffects); // prettier-ignore
  assert.deepEqual([first([]), first(['a']), first(['b', 'a'])], [a, b, undefined]);
  assert.deepEqual(
    [firstUntolerated(undefined, undefined, refusingEffects), firstUntolerated([a], undefined, refusingEffects)],
    [undefined, a],
  );
});

const short: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 };
const ever: Toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
const other: Toleration = { key: 'x', operator: 'Exists' };
const implied: Toleration = { key: 'k', value: 'v' };
const spelled: Toleration = { key: 'k', operator: 'Equal', value: 'v', tolerationSeconds: 9 };
const elsewhere: Toleration = { ...short, effect: 'NoSchedule' };
const merges: [why: string, own: Toleration[] | undefined, added: Toleration[], merged: Toleration[]][] = [
  ['appends to none', undefined, [ever], [ever]],
  ['replaces in place, duration and all', [short, other], [ever], [ever, other]],
  ['replaces each of two of its kind', [short, ever], [ever], [ever, ever]],
  ['takes no operator for Equal', [implied], [spelled], [spelled]],
  ['tells effects apart', [elsewhere], [ever], [elsewhere, ever]],
  ['tells values apart', [{ ...implied, value: 'w' }], [implied], [{ ...implied, value: 'w' }, implied]],
];
for (const [why, own, added, merged] of merges) {
  test(`merging tolerations ${why}`, () => {
    const before = structuredClone(own);
    assert.deepEqual(mergeTolerations(own, added), merged);
    assert.deepEqual(own, before, 'what was given stays as it was');
  });
}

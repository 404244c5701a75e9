import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  escapeFieldValue,
  labelSelectorOf,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from '../../../../kube/api/selector.ts';

const labels = { app: 'web', tier: 'front', zone: '', count: '7', 'example.com/x': 'y' };
const cases = [
  { selector: '', matches: true },
  { selector: 'app=web', matches: true },
  { selector: 'app==web', matches: true },
  { selector: 'app=db', matches: false },
  { selector: 'app!=db', matches: true },
  { selector: 'app!=web', matches: false },
  { selector: 'absent!=x', matches: true },
  { selector: 'absent=', matches: false },
  { selector: 'zone=', matches: true },
  { selector: 'zone', matches: true },
  { selector: '!zone', matches: false },
  { selector: '!absent', matches: true },
  { selector: 'app in (db, web)', matches: true },
  { selector: 'app in (db)', matches: false },
  { selector: 'app notin (db)', matches: true },
  { selector: 'absent notin (db)', matches: true },
  { selector: 'zone in ()', matches: true },
  { selector: 'count>6,count<8', matches: true },
  { selector: 'count>7', matches: false },
  { selector: 'app>1', matches: false },
  { selector: 'example.com/x=y', matches: true },
  { selector: ' app = web , tier in ( front ) ', matches: true },
  { selector: 'app=web,tier=back', matches: false },
  { selector: 'toString', matches: false },
  { selector: 'in=x', matches: false },
];
for (const { selector, matches } of cases) {
  test(`label selector "${selector}" ${matches ? 'selects' : 'does not select'}`, () => {
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), matches);
  });
}

for (const bad of '= | a=b, | ,a | a in | a in ( | a in (b | a in b | a b | ! | !a=b | a>x | a=b=c | a/b/c | a=- | é=x | (a) | a=b c'.split(
  ' | ',
)) {
  test(`label selector "${bad}" is refused`, () => assert.throws(() => parseLabelSelector(bad), SelectorError));
}

test('a selector in an object selects like its text', () => {
  const selector = labelSelectorOf({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'gone', operator: 'DoesNotExist' },
    ],
  });
  assert.deepEqual(selector, [...parseLabelSelector('app in (web),tier in (front,back),!gone')]);
  assert.throws(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'In' }] }), SelectorError);
  assert.throws(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }), SelectorError);
  assert.throws(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Near', values: ['x'] }] }), SelectorError);
});

test('field selectors compare, and an absent field counts as empty', () => {
  const fieldOf = (field: string) => new Map([['metadata.name', 'a']]).get(field);
  const matches = (text: string) => matchesFields(parseFieldSelector(text), fieldOf);
  assert.deepEqual(
    ['', 'metadata.name=a', 'metadata.name==a', 'metadata.name!=b', 'spec.nodeName=', 'metadata.name=a,x!=y'].map(matches),
    Array(6).fill(true),
  );
  assert.deepEqual(['metadata.name=b', 'metadata.name!=a', 'spec.nodeName!=', 'metadata.name=a,x=y'].map(matches), Array(4).fill(false));
  for (const bad of ['a', '=b', 'a=b=c', String.raw`a=\x`, 'a=b\\']) assert.throws(() => parseFieldSelector(bad), SelectorError, bad);
});

test('an escaped field value is read back as it was', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      assert.deepEqual(parseFieldSelector(`metadata.name=${escapeFieldValue(value)},b!=c`), [
        { field: 'metadata.name', operator: '=', value },
        { field: 'b', operator: '!=', value: 'c' },
      ]);
    }),
  );
});

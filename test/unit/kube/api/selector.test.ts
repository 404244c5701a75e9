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
const selects =
  ' | app=web | app==web | app!=db | absent!=x | zone= | zone | !absent | app in (db, web) | app notin (db) | absent notin (db) | zone in ()'.split(
    ' | ',
  );
selects.push('count>6,count<8', 'example.com/x=y', ' app = web , tier in ( front ) ');
const leaves = ['app=db', 'app!=web', 'absent=', '!zone', 'app in (db)', 'count>7', 'app>1', 'app=web,tier=back', 'toString', 'in=x'];
for (const selector of [...selects, ...leaves])
  test(`label selector "${selector}"`, () => assert.equal(matchesLabels(parseLabelSelector(selector), labels), selects.includes(selector)));

test('label selectors that nobody can read are refused', () => {
  const bad =
    '= | a=b, | ,a | a in | a in (b | a in b | a b | ! | !a=b | a>x | a>-1 | a<9223372036854775808 | a=b=c | a/b/c | a=- | (a)'.split(
      ' | ',
    );
  for (const text of bad) assert.throws(() => parseLabelSelector(text), SelectorError, text);
});

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conflictingFields, difference, fieldSetOf, withoutFields } from '../../../apiserver/handlers/apply.ts';

const rule = { fields: { conditions: { mergeKey: 'type' }, ids: { set: true as const } } };
const object = { a: '1', map: { x: 'y' }, plain: [1, 2], ids: ['i'], conditions: [{ type: 'Ready', status: 'True' }] };

test('a set names fields, items by key and values of sets', () => {
  assert.deepEqual(fieldSetOf(object, rule), {
    'f:a': {},
    'f:map': { 'f:x': {} },
    'f:plain': {},
    'f:ids': { 'v:"i"': {} },
    'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:type': {}, 'f:status': {} } },
  });
});

test('what one no longer names is taken away, and nothing else', () => {
  const dropped = difference(fieldSetOf(object, rule), fieldSetOf({ a: '1', conditions: [{ type: 'Other' }] }, rule));
  const live = {
    ...object,
    b: '2',
    conditions: [...object.conditions, { type: 'Other', status: 'False' }],
    ids: ['i', 'j'],
    map: { x: 'y', z: 'w' },
  };
  assert.deepEqual(withoutFields(live, dropped, rule), {
    a: '1',
    b: '2',
    conditions: [{ type: 'Other', status: 'False' }],
    ids: ['j'],
    map: { z: 'w' },
  });
});

test('a conflict is a field of both whose value differs', () => {
  const theirs = fieldSetOf(object, rule);
  const wanted = { a: '2', map: { x: 'y' }, conditions: [{ type: 'Ready', status: 'False' }] };
  assert.deepEqual(conflictingFields(fieldSetOf(wanted, rule), theirs, wanted, object, rule), ['.a', '.conditions[type="Ready"].status']);
});

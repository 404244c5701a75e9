import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch } from '../../../../apiserver/patch/json-patch.ts';

const applied = [
  { why: 'adds a field', target: '{"a":1}', patch: '[{"op":"add","path":"/b","value":2}]', result: '{"a":1,"b":2}' },
  { why: 'inserts into a list', target: '{"a":[1,3]}', patch: '[{"op":"add","path":"/a/1","value":2}]', result: '{"a":[1,2,3]}' },
  { why: 'appends to a list', target: '{"a":[1]}', patch: '[{"op":"add","path":"/a/-","value":2}]', result: '{"a":[1,2]}' },
  { why: 'adds over what is there', target: '{"a":1}', patch: '[{"op":"add","path":"/a","value":null}]', result: '{"a":null}' },
  { why: 'removes from a list', target: '{"a":[1,2,3]}', patch: '[{"op":"remove","path":"/a/1"}]', result: '{"a":[1,3]}' },
  {
    why: 'replaces in place',
    target: '{"a":{"b":1,"c":2}}',
    patch: '[{"op":"replace","path":"/a/b","value":9}]',
    result: '{"a":{"b":9,"c":2}}',
  },
  { why: 'replaces the whole', target: '{"a":1}', patch: '[{"op":"replace","path":"","value":{"b":2}}]', result: '{"b":2}' },
  { why: 'moves', target: '{"a":{"x":1},"b":{}}', patch: '[{"op":"move","from":"/a/x","path":"/b/y"}]', result: '{"a":{},"b":{"y":1}}' },
  { why: 'moves within a list', target: '[1,2,3]', patch: '[{"op":"move","from":"/0","path":"/2"}]', result: '[2,3,1]' },
  {
    why: 'copies',
    target: '{"a":[1]}',
    patch: '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]',
    result: '{"a":[1],"b":[1,2]}',
  },
  {
    why: 'passes a test whatever the order of fields',
    target: '{"a":{"x":1,"y":[2]}}',
    patch: '[{"op":"test","path":"/a","value":{"y":[2],"x":1}}]',
    result: '{"a":{"x":1,"y":[2]}}',
  },
  {
    why: 'reads ~1 and ~0',
    target: '{"a/b":1,"m~n":2}',
    patch: '[{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}]',
    result: '{"m~n":3}',
  },
  { why: 'reads ~01 as ~1', target: '{"~1":1}', patch: '[{"op":"replace","path":"/~01","value":2}]', result: '{"~1":2}' },
];
for (const { why, target, patch, result } of applied) {
  test(`a JSON patch ${why}`, () => {
    const before: unknown = JSON.parse(target);
    assert.equal(JSON.stringify(applyJsonPatch(before, JSON.parse(patch))), result);
    assert.equal(JSON.stringify(before), target, 'the target stays as it was');
  });
}

const refused = [
  {
    why: 'a failed test',
    patch: [{ op: 'test', path: '/a', value: 2 }],
    problem: 'inapplicable',
    says: /operation 0 \(test \/a\).*test failed/,
  },
  { why: 'removing what is not there', patch: [{ op: 'remove', path: '/x' }], problem: 'inapplicable', says: /there is no "x"/ },
  {
    why: 'replacing what is not there',
    patch: [{ op: 'replace', path: '/x', value: 1 }],
    problem: 'inapplicable',
    says: /there is no "x"/,
  },
  { why: 'a parent that is not there', patch: [{ op: 'add', path: '/x/y', value: 1 }], problem: 'inapplicable', says: /there is no "x"/ },
  {
    why: 'an inherited field',
    patch: [{ op: 'add', path: '/__proto__/y', value: 1 }],
    problem: 'inapplicable',
    says: /there is no "__proto__"/,
  },
  { why: 'an index beyond the end', patch: [{ op: 'add', path: '/l/3', value: 1 }], problem: 'inapplicable', says: /beyond/ },
  { why: 'an index with a leading zero', patch: [{ op: 'replace', path: '/l/01', value: 1 }], problem: 'inapplicable', says: /no index/ },
  { why: 'removing the end marker', patch: [{ op: 'remove', path: '/l/-' }], problem: 'inapplicable', says: /no index/ },
  { why: 'removing everything', patch: [{ op: 'remove', path: '' }], problem: 'inapplicable', says: /whole object/ },
  { why: 'a move into itself', patch: [{ op: 'move', from: '/o', path: '/o/p' }], problem: 'inapplicable', says: /into itself/ },
  { why: 'an unknown operation', patch: [{ op: 'frob', path: '/a' }], problem: 'malformed', says: /unknown operation/ },
  { why: 'a patch that is no list', patch: { op: 'add' }, problem: 'malformed', says: /list of operations/ },
  { why: 'an operation that is no object', patch: [1], problem: 'malformed', says: /operation 0/ },
  { why: 'a missing path', patch: [{ op: 'remove' }], problem: 'malformed', says: /no "path"/ },
  { why: 'a missing value', patch: [{ op: 'add', path: '/a' }], problem: 'malformed', says: /no "value"/ },
  { why: 'a missing from', patch: [{ op: 'copy', path: '/a' }], problem: 'malformed', says: /no "from"/ },
  { why: 'a path without slash', patch: [{ op: 'remove', path: 'a' }], problem: 'malformed', says: /starts with/ },
];
for (const { why, patch, problem, says } of refused) {
  test(`a JSON patch is refused for ${why}`, () => {
    assert.throws(() => applyJsonPatch({ a: 1, l: [1, 2], o: {} }, patch), { name: 'PatchError', problem, message: says });
  });
}

test('a JSON patch that doubles an object again and again is stopped', () => {
  const bomb = Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/a', path: `/a/${at}` }));
  assert.throws(() => applyJsonPatch({ a: { seed: 'x'.repeat(100) } }, bomb), { name: 'PatchError', message: /copies add more/ });
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: {} }));
  assert.throws(() => applyJsonPatch({}, many), { name: 'PatchError', message: /10001 operations/ });
});

test('operations of one patch do not nest an object ever deeper', () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`);
  const patch = Array.from({ length: 1_000 }, (_, n) => [
    { op: 'add', path: `/x${n + 1}`, value: deep },
    { op: 'move', from: `/x${n}`, path: `/x${n + 1}${'/a'.repeat(399)}/b` },
  ]).flat();
  // The innermost is no object, so that a way to it is made first.
  const open = patch.map((one) =>
    one.op === 'add' ? { ...one, value: JSON.parse(JSON.stringify(deep).replace('1', '{}')) as unknown } : one,
  );
  assert.throws(() => applyJsonPatch({ x0: {} }, open), {
    name: 'PatchError',
    message: /the patched object is nested deeper than 1000 levels/,
  });
});

test('a list or object is copied once for all operations of a patch, and the target stays as it was', () => {
  let reads = 0;
  const counted = {
    get first() {
      reads += 1;
      return 0;
    },
  };
  const target = { counted, list: Array.from({ length: 5_000 }, (_, n) => n) };
  const patch = Array.from({ length: 5_000 }, (_, n) => [
    { op: 'add', path: `/counted/k${n}`, value: n },
    { op: 'add', path: '/list/0', value: n },
  ]).flat();
  const patched = applyJsonPatch(target, patch) as { counted: object; list: number[] };
  assert.equal(Object.keys(patched.counted).length, 5_001);
  assert.deepEqual(patched.list.slice(4_998, 5_002), [1, 0, 0, 1]);
  assert.deepEqual([Object.keys(target.counted).length, target.list.length, target.list[0]], [1, 5_000, 0]);
  assert.ok(reads < 5, `the object was read ${reads} times`);
});

test('what is copied changes without its original', () => {
  const patch = [
    { op: 'add', path: '/a/x', value: 1 },
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'add', path: '/a/y', value: 2 },
    { op: 'add', path: '/b/z', value: 3 },
  ];
  assert.deepEqual(applyJsonPatch({ a: {} }, patch), { a: { x: 1, y: 2 }, b: { x: 1, z: 3 } });
});

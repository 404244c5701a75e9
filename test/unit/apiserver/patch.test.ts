import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { applyJsonPatch } from '../../../../apiserver/patch/json-patch.ts';

const applied = table('target | patch | result | why')(`
  {"a":1}              | [{"op":"add","path":"/b","value":2}]         | {"a":1,"b":2}        | adds a field
  {"a":[1,3]}          | [{"op":"add","path":"/a/1","value":2}]       | {"a":[1,2,3]}        | inserts into a list
  {"a":[1]}            | [{"op":"add","path":"/a/-","value":2}]       | {"a":[1,2]}          | appends to a list
  {"a":1}              | [{"op":"add","path":"/a","value":null}]      | {"a":null}           | adds over what is there
  {"a":[1,2,3]}        | [{"op":"remove","path":"/a/1"}]              | {"a":[1,3]}          | removes from a list
  {"a":{"b":1,"c":2}}  | [{"op":"replace","path":"/a/b","value":9}]   | {"a":{"b":9,"c":2}}  | replaces in place
  {"a":1}              | [{"op":"replace","path":"","value":{"b":2}}] | {"b":2}              | replaces the whole
  {"a":{"x":1},"b":{}} | [{"op":"move","from":"/a/x","path":"/b/y"}]  | {"a":{},"b":{"y":1}} | moves
  [1,2,3]              | [{"op":"move","from":"/0","path":"/2"}]      | [2,3,1]              | moves within a list
  {"a":[1]} | [{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}] | {"a":[1],"b":[1,2]} | copies
  {"a":{"x":1,"y":[2]}} | [{"op":"test","path":"/a","value":{"y":[2],"x":1}}] | {"a":{"x":1,"y":[2]}}
    | passes a test whatever the order of fields
  {"a/b":1,"m~n":2} | [{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}] | {"m~n":3} | reads ~1 and ~0
  {"~1":1}             | [{"op":"replace","path":"/~01","value":2}]   | {"~1":2}             | reads ~01 as ~1
`);
for (const { why, target, patch, result } of applied) {
  test(`a JSON patch ${why}`, () => {
    const before: unknown = JSON.parse(target);
    assert.equal(JSON.stringify(applyJsonPatch(before, JSON.parse(patch))), result);
    assert.equal(JSON.stringify(before), target, 'the target stays as it was');
  });
}

// `says` is a pattern.
const refused = table('patch | problem | says | why')(String.raw`
  [{"op":"test","path":"/a","value":2}]          | inapplicable | operation 0 \(test \/a\).*test failed | a failed test
  [{"op":"remove","path":"/x"}]                  | inapplicable | there is no "x"                       | removing what is not there
  [{"op":"replace","path":"/x","value":1}]       | inapplicable | there is no "x"                       | replacing what is not there
  [{"op":"add","path":"/x/y","value":1}]         | inapplicable | there is no "x"                       | a parent that is not there
  [{"op":"add","path":"/__proto__/y","value":1}] | inapplicable | there is no "__proto__"               | an inherited field
  [{"op":"add","path":"/l/3","value":1}]         | inapplicable | beyond                                | an index beyond the end
  [{"op":"replace","path":"/l/01","value":1}]    | inapplicable | not an index                          | an index with a leading zero
  [{"op":"remove","path":"/l/-"}]                | inapplicable | not an index                          | removing the end marker
  [{"op":"remove","path":""}]                    | inapplicable | whole object                          | removing everything
  [{"op":"move","from":"/o","path":"/o/p"}]      | inapplicable | into itself                           | a move into itself
  [{"op":"frob","path":"/a"}]                    | malformed    | unknown operation                     | an unknown operation
  {"op":"add"}                                   | malformed    | list of operations                    | a patch that is no list
  [1]                                            | malformed    | operation 0                           | an operation that is no object
  [{"op":"remove"}]                              | malformed    | no "path"                             | a missing path
  [{"op":"add","path":"/a"}]                     | malformed    | no "value"                            | a missing value
  [{"op":"copy","path":"/a"}]                    | malformed    | no "from"                             | a missing from
  [{"op":"remove","path":"a"}]                   | malformed    | starts with                           | a path without slash
`);
for (const { why, patch, problem, says } of refused) {
  test(`a JSON patch is refused for ${why}`, () => {
    assert.throws(() => applyJsonPatch({ a: 1, l: [1, 2], o: {} }, JSON.parse(patch)), {
      name: 'PatchError',
      problem,
      message: new RegExp(says),
    });
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

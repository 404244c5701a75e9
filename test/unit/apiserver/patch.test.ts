import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { table } from '../../support/table.ts';
import { applyPatch } from '../../../apiserver/handlers/patch.ts';
import { applyJsonPatch, applyMergePatch, PatchError } from '../../../apiserver/patch/json-patch.ts';
import { strategicRules } from '../../../apiserver/patch/strategic-patch.ts';

const json = table('target | patch | result | why')(`
  {"a":{"b":1,"c":2}}  | [{"op":"replace","path":"/a/b","value":9}]   | {"a":{"b":9,"c":2}}  | replaces in place
  {"a":{"x":1},"b":{}} | [{"op":"move","from":"/a/x","path":"/b/y"}]  | {"a":{},"b":{"y":1}} | moves
  {"a":[1]} | [{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}] | {"a":[1],"b":[1,2]} | copies
  {"a":{"x":1,"y":[2]}} | [{"op":"test","path":"/a","value":{"y":[2],"x":1}}] | {"a":{"x":1,"y":[2]}} | passes a test in any order of fields
  {"a/b":1,"m~n":2} | [{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}] | {"m~n":3} | reads ~1 and ~0
`);
for (const { why, target, patch, result } of json)
  test(`a JSON patch ${why}`, () => {
    const before: unknown = JSON.parse(target);
    assert.equal(JSON.stringify(applyJsonPatch(before, JSON.parse(patch))), result);
    assert.equal(JSON.stringify(before), target, 'the target stays as it was');
  });

// `says` is a pattern.
const refused = table('patch | problem | says')(String.raw`
  [{"op":"test","path":"/a","value":2}]          | inapplicable | operation 0 \(test \/a\).*test failed
  [{"op":"remove","path":"/x"}]                  | inapplicable | there is no "x"
  [{"op":"add","path":"/__proto__/y","value":1}] | inapplicable | there is no "__proto__"
  [{"op":"add","path":"/l/3","value":1}]         | inapplicable | beyond
  [{"op":"replace","path":"/l/01","value":1}]    | inapplicable | not an index
  [{"op":"remove","path":""}]                    | inapplicable | whole object
  [{"op":"move","from":"/o","path":"/o/p"}]      | inapplicable | into itself
  [{"op":"frob","path":"/a"}]                    | malformed    | unknown operation
  {"op":"add"}                                   | malformed    | list of operations
  [{"op":"remove"}]                              | malformed    | no "path"
  [{"op":"add","path":"/a"}]                     | malformed    | no "value"
  [{"op":"remove","path":"a"}]                   | malformed    | starts with
`);
for (const { patch, problem, says } of refused)
  test(`a JSON patch is refused: ${patch}`, () => {
    const error = { name: 'PatchError', problem, message: new RegExp(says) };
    assert.throws(() => applyJsonPatch({ a: 1, l: [1, 2], o: {} }, JSON.parse(patch)), error);
  });

test('a JSON patch that doubles an object again and again, has too many operations, or nests ever deeper is stopped', () => {
  const bomb = Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/a', path: `/a/${at}` }));
  assert.throws(() => applyJsonPatch({ a: { seed: 'x'.repeat(100) } }, bomb), { name: 'PatchError', message: /copies add more/ });
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: {} }));
  assert.throws(() => applyJsonPatch({}, many), { name: 'PatchError', message: /10001 operations/ });
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(400)}{}${'}'.repeat(400)}`);
  const nesting = Array.from({ length: 4 }, (_, n) => [
    { op: 'add', path: `/x${n + 1}`, value: deep },
    { op: 'move', from: `/x${n}`, path: `/x${n + 1}${'/a'.repeat(399)}/b` },
  ]).flat();
  assert.throws(() => applyJsonPatch({ x0: {} }, nesting), { message: /the patched object is nested deeper than 1000 levels/ });
});

test('a merge patch sets, removes and merges, starts anew over what is no object, and takes __proto__ for a plain field', () => {
  const merged = (target: string, patch: string) => JSON.stringify(applyMergePatch(JSON.parse(target), JSON.parse(patch)));
  assert.equal(merged('{"a":{"b":"c"},"d":[1],"e":null}', '{"a":{"b":"d","c":null},"d":"x"}'), '{"a":{"b":"d"},"d":"x","e":null}');
  assert.equal(merged('[1,2]', '{"a":{"b":{"c":null}}}'), '{"a":{"b":{}}}');
  assert.equal(merged('{}', '{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}');
});

test('a patch of an API object is an object, and one that is nested without end is refused, not a stack overflow', () => {
  for (const patch of [null, 1, 'x', []]) assert.throws(() => applyPatch('merge', {}, patch), PatchError);
  const deep: unknown = JSON.parse('{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000));
  const malformed = { name: 'PatchError', problem: 'malformed' };
  for (const type of ['merge', 'strategic'] as const) assert.throws(() => applyPatch(type, {}, deep), malformed);
  assert.throws(() => applyPatch('json', {}, [{ op: 'add', path: '/a', value: deep }]), malformed);
});

// In YAML. STATUS has two conditions, CONTAINERS two containers.
const words: Readonly<Record<string, string>> = {
  STATUS: '{status: {conditions: [{type: Ready, status: True, reason: r}, {type: Disk}], phase: p}}',
  CONTAINERS: '{containers: [{name: a, env: [{name: K, value: 1}], ports: [{containerPort: 80}]}, {name: b}]}',
};
const read = (text: string): object => parse(text.replace(/[A-Z]{5,}/, (word) => words[word] ?? word)) as object;
const strategic = table('kind | target | patch | result | why')(`
  Node | STATUS | {status: {conditions: [{type: Ready, status: Unknown}, {type: New}]}}
    | {status: {conditions: [{type: Ready, status: Unknown, reason: r}, {type: Disk}, {type: New}], phase: p}} | merges conditions by type
  Node | STATUS | {status: {conditions: [{$patch: delete, type: Ready}]}} | {status: {conditions: [{type: Disk}], phase: p}} | deletes an item
  Node | STATUS | {status: {conditions: [{$patch: replace}, {type: Only}]}} | {status: {conditions: [{type: Only}], phase: p}}
    | replaces a merging list when told to
  Node | STATUS | {status: {$patch: replace, phase: q}} | {status: {phase: q}} | replaces an object when told to
  Node | {metadata: {finalizers: [a, b]}} | {metadata: {finalizers: [b, c, c]}} | {metadata: {finalizers: [a, b, c]}} | merges sets
  Node | {metadata: {finalizers: [a, b]}} | {metadata: {$deleteFromPrimitiveList/finalizers: [a]}} | {metadata: {finalizers: [b]}}
    | removes plain values by name
  StatefulSet | {spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}}}
    | {spec: {updateStrategy: {$retainKeys: [type], type: OnDelete}}} | {spec: {updateStrategy: {type: OnDelete}}} | keeps the fields of $retainKeys
  ConfigMap | {data: {a: '1', b: '2'}} | {data: {a: null}, metadata: {labels: {x: null, y: z}}} | {data: {b: '2'}, metadata: {labels: {y: z}}}
    | removes with null and drops nulls of new objects
  Pod | {spec: CONTAINERS} | {spec: {$setElementOrder/containers: [], containers: [{name: a, env: [{name: L}]}]}}
    | {spec: {containers: [{name: a, env: [{name: K, value: 1}, {name: L}], ports: [{containerPort: 80}]}, {name: b}]}}
    | merges lists inside of list items
  DaemonSet | {spec: {template: {spec: {containers: [{name: a, x: y}]}}}} | {spec: {template: {spec: {containers: [{name: a, image: i}]}}}}
    | {spec: {template: {spec: {containers: [{name: a, x: y, image: i}]}}}} | reaches into pod templates
`);
for (const { why, kind, ...row } of strategic)
  test(`a strategic patch ${why}`, () => {
    const target = read(row.target);
    assert.deepEqual(applyPatch('strategic', target, read(row.patch), strategicRules(kind)), read(row.result));
    assert.deepEqual(target, read(row.target), 'the target stays as it was');
  });

for (const patch of [
  '[]',
  '{status: {$patch: explode}}',
  '{status: {conditions: [{status: True}]}}',
  '{spec: {$retainKeys: [a], b: 1}}',
  '{metadata: {$deleteFromPrimitiveList/finalizers: a}}',
])
  test(`a strategic patch is refused: ${patch}`, () => {
    assert.throws(() => applyPatch('strategic', {}, read(patch), strategicRules('Node')), PatchError);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyMergePatch, PatchError } from '../../../../apiserver/patch/json-patch.ts';
import { applyPatch } from '../../../../apiserver/handlers/patch.ts';

const cases = [
  // the examples of RFC 7386, appendix A, as JSON
  { why: 'replaces a value', target: '{"a":"b"}', patch: '{"a":"c"}', result: '{"a":"c"}' },
  { why: 'adds a field', target: '{"a":"b"}', patch: '{"b":"c"}', result: '{"a":"b","b":"c"}' },
  { why: 'removes a field', target: '{"a":"b"}', patch: '{"a":null}', result: '{}' },
  { why: 'leaves the others when it removes', target: '{"a":"b","b":"c"}', patch: '{"a":null}', result: '{"b":"c"}' },
  { why: 'puts a value in place of a list', target: '{"a":["b"]}', patch: '{"a":"c"}', result: '{"a":"c"}' },
  { why: 'puts a list in place of a value', target: '{"a":"c"}', patch: '{"a":["b"]}', result: '{"a":["b"]}' },
  { why: 'merges objects', target: '{"a":{"b":"c"}}', patch: '{"a":{"b":"d","c":null}}', result: '{"a":{"b":"d"}}' },
  { why: 'replaces lists whole', target: '{"a":[{"b":"c"}]}', patch: '{"a":[1]}', result: '{"a":[1]}' },
  { why: 'keeps a null that was there', target: '{"e":null}', patch: '{"a":1}', result: '{"e":null,"a":1}' },
  { why: 'starts anew over what is no object', target: '[1,2]', patch: '{"a":"b","c":null}', result: '{"a":"b"}' },
  { why: 'drops nulls of new objects', target: '{}', patch: '{"a":{"bb":{"ccc":null}}}', result: '{"a":{"bb":{}}}' },
  { why: 'takes __proto__ for a plain field', target: '{}', patch: '{"__proto__":{"x":1}}', result: '{"__proto__":{"x":1}}' },
];
for (const { why, target, patch, result } of cases) {
  test(`a merge patch ${why}`, () => {
    const before: unknown = JSON.parse(target);
    const after = applyMergePatch(before, JSON.parse(patch));
    assert.equal(JSON.stringify(after), result);
    assert.equal(JSON.stringify(before), target, 'the target stays as it was');
  });
}

test('a merge patch of an API object is an object', () => {
  for (const patch of [null, 1, 'x', []]) assert.throws(() => applyPatch('merge', {}, patch), PatchError);
});

test('a merge patch that is nested without end is refused, not a stack overflow', () => {
  const deep: unknown = JSON.parse('{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000));
  for (const type of ['merge', 'strategic'] as const) {
    assert.throws(() => applyPatch(type, {}, deep), { name: 'PatchError', problem: 'malformed' });
  }
  assert.throws(() => applyPatch('json', {}, [{ op: 'add', path: '/a', value: deep }]), { name: 'PatchError', problem: 'malformed' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goJson } from '../../../../kube/api/go-json.ts';
import { jsonEqual } from '../../../../kube/api/json.ts';
import { applyJsonPatch, applyStrategicPatch } from '../../../../kube/api/patch.ts';

const text = (levels: number, end = '1'): string => `${'{"a":['.repeat(levels)}${end}${']}'.repeat(levels)}`;

test('values nested 10,000 and 100,000 deep are compared and written', () => {
  for (const levels of [5_000, 50_000]) {
    const value: unknown = JSON.parse(text(levels));
    assert.ok(jsonEqual(value, JSON.parse(text(levels))));
    assert.ok(!jsonEqual(value, JSON.parse(text(levels, '2'))));
    assert.ok(!jsonEqual(value, JSON.parse(text(levels, '{"b":1}'))));
    assert.equal(goJson(value), text(levels));
  }
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

test('a strategic patch compares no item of a list with each other', () => {
  const rule = { fields: { env: { mergeKey: 'name' }, finalizers: { set: true as const } } };
  const item = (n: number) => ({ name: `n${n}`, value: 'x' });
  let reads = 0;
  const counted = (n: number) => ({
    get name() {
      reads += 1;
      return `n${n}`;
    },
  });
  const count = 20_000;
  const target = { env: Array.from({ length: count }, (_, n) => item(n)), finalizers: Array.from({ length: count }, (_, n) => `f${n}`) };
  const changes = Array.from({ length: count }, (_, n) => ({ ...item(n + count / 2), value: 'y' }));
  const env = [{ $patch: 'delete', name: 'n0' }, ...changes, counted(1)];
  const finalizers = Array.from({ length: count }, (_, n) => `f${n + 10}`);
  const patched = applyStrategicPatch(target, { env, finalizers, '$deleteFromPrimitiveList/finalizers': ['f3'] }, rule) as typeof target;
  assert.equal(patched.env.length, count * 1.5 - 1);
  assert.equal(patched.env[0]?.name, 'n1');
  assert.equal(patched.env.at(-1)?.value, 'y');
  assert.ok(patched.finalizers.includes(`f${count + 9}`));
  assert.ok(reads < 20, `the last item was read ${reads} times`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goJson, jsonEqual } from '../../../../kube/api/json.ts';

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

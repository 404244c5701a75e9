import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadyKeys } from '../../../../kube/queue/ready-keys.ts';

test('a key waits from its first add, and again from the first add while it was taken', () => {
  const keys = new ReadyKeys();
  keys.add('a', 10);
  keys.add('a', 15);
  assert.deepEqual(keys.get(30), { key: 'a', waited: 20 });
  keys.add('a', 40);
  keys.add('a', 45);
  assert.equal(keys.done('a', 50), 20);
  assert.deepEqual(keys.get(60), { key: 'a', waited: 20 });
  assert.deepEqual([...keys.running(65)], [5]);
  assert.equal(keys.done('a', 70), 10);
  assert.deepEqual([...keys.running(65)], []);
});

test('a visit is owed once, and told once', () => {
  const keys = new ReadyKeys();
  assert.deepEqual([keys.add('a', 0), keys.add('a', 0), keys.dirty], [true, false, 1]);
  keys.get(0);
  assert.deepEqual([keys.dirty, keys.ready, keys.processing], [0, 0, 1]);
  assert.deepEqual([keys.add('a', 0), keys.add('a', 0)], [true, false]);
  assert.deepEqual([keys.dirty, keys.ready, keys.processing], [1, 0, 1]);
  keys.done('a', 0);
  assert.deepEqual([keys.dirty, keys.ready, keys.processing], [1, 1, 0]);
});

test('only what was taken can be finished', () => {
  const keys = new ReadyKeys();
  assert.equal(keys.done('a', 0), undefined);
  keys.add('a', 0);
  assert.equal(keys.done('a', 0), undefined);
  assert.equal(keys.ready, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLimiter } from '../../../../kube/queue/rate-limit.ts';
import { ReadyKeys } from '../../../../kube/queue/ready-keys.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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

test('a million keys come and go, in order, and nothing of them stays', () => {
  const keys = new ReadyKeys();
  const limiter = new RetryLimiter(new FakeClock());
  let again = 0;
  /** Takes all but `leave` keys. One in ten fails the first time, and is added again while it is with a worker. */
  const work = (leave: number): void => {
    while (keys.ready > leave) {
      const { key } = keys.get(0) ?? assert.fail('a ready key can be taken');
      if (limiter.retries(key) > 0) again += 1;
      else if (key !== `default/set-${next++}`) assert.fail(`${key} came out of turn, before number ${next}`);
      if (key.endsWith('0') && limiter.retries(key) === 0) {
        limiter.next(key);
        keys.add(key, 0);
      } else limiter.forget(key);
      keys.done(key, 0);
    }
  };
  let next = 0;
  for (let added = 0; added < 1_000_000; added++) {
    keys.add(`default/set-${added}`, 0);
    if (keys.ready > 10_000) work(5_000);
  }
  work(0);
  assert.deepEqual([next, again], [1_000_000, 100_000]);
  assert.deepEqual([keys.ready, keys.processing, keys.dirty, limiter.size], [0, 0, 0, 0]);
});

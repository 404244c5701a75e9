import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLimiter } from '../../../kube/queue/rate-limit.ts';
import { ReadyKeys } from '../../../kube/queue/ready-keys.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

test('a key waits from its first add, and again from the first add while it was taken', () => {
  const keys = new ReadyKeys();
  keys.add('a', 10);
  keys.add('a', 15);
  assert.deepEqual(keys.take(30), { key: 'a', waited: 20 });
  keys.add('a', 40);
  keys.add('a', 45);
  assert.equal(keys.finish('a', 50), 20);
  assert.deepEqual(keys.take(60), { key: 'a', waited: 20 });
  assert.deepEqual([...keys.running(65)], [5]);
  assert.equal(keys.finish('a', 70), 10);
  assert.deepEqual([...keys.running(65)], []);
});

test('a visit is owed once, and told once', () => {
  const keys = new ReadyKeys();
  assert.deepEqual([keys.add('a', 0), keys.add('a', 0), keys.owed], [true, false, 1]);
  keys.take(0);
  assert.deepEqual([keys.owed, keys.ready, keys.processing], [0, 0, 1]);
  assert.deepEqual([keys.add('a', 0), keys.add('a', 0)], [true, false]);
  assert.deepEqual([keys.owed, keys.ready, keys.processing], [1, 0, 1]);
  keys.finish('a', 0);
  assert.deepEqual([keys.owed, keys.ready, keys.processing], [1, 1, 0]);
});

test('only what was taken can be finished', () => {
  const keys = new ReadyKeys();
  assert.equal(keys.finish('a', 0), undefined);
  keys.add('a', 0);
  assert.equal(keys.finish('a', 0), undefined);
  assert.equal(keys.ready, 1);
});

test('a million keys come and go, in order, and nothing of them stays', () => {
  const keys = new ReadyKeys();
  const limiter = new RetryLimiter(new FakeClock());
  let [added, taken, again] = [0, 0, 0];
  while (taken < 1_000_000) {
    // Up to 10,000 wait at once; one in ten fails and is added again while it is with a worker.
    for (; added < 1_000_000 && keys.ready < 10_000; added++) keys.add(`default/set-${added}`, added);
    while (keys.ready > 5_000 || (added === 1_000_000 && keys.ready > 0)) {
      const { key } = keys.take(added) ?? assert.fail('a ready key can be taken');
      const isAgain = limiter.retries(key) > 0;
      if (isAgain) again++;
      else if (key !== `default/set-${taken++}`) assert.fail(`${key} came out of turn, as number ${taken}`);
      if (!isAgain && taken % 10 === 0) {
        limiter.next(key);
        keys.add(key, added);
      } else limiter.forget(key);
      keys.finish(key, added);
    }
  }
  for (let last = keys.take(0); last !== undefined; last = keys.take(0), again++) {
    limiter.forget(last.key);
    keys.finish(last.key, 0);
  }
  assert.equal(again, 100_000);
  assert.deepEqual([keys.ready, keys.processing, keys.owed, limiter.size], [0, 0, 0, 0]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLimiter, TokenBucket } from '../../../../kube/queue/rate-limit.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Without the line of all keys, which has a test of its own. */
const alone = { perSecond: 1e9, burst: 1e9 };

test('a key waits twice as long with each failure, from 5 ms to 1000 s', () => {
  const limiter = new RetryLimiter(new FakeClock(), alone);
  const waits = Array.from({ length: 20 }, () => limiter.next('a'));
  assert.deepEqual(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.deepEqual(waits.slice(17), [5 * 2 ** 17, 1_000_000, 1_000_000]);
});

test('after thousands of failures the wait is the longest one, and finite', () => {
  const limiter = new RetryLimiter(new FakeClock(), alone);
  let wait = 0;
  for (let failure = 0; failure < 10_000; failure++) wait = limiter.next('a');
  assert.equal(wait, 1_000_000);
  assert.equal(limiter.retries('a'), 10_000);
});

test('a forgotten key starts again and leaves nothing behind', () => {
  const limiter = new RetryLimiter(new FakeClock(), alone);
  limiter.next('a');
  limiter.next('a');
  limiter.next('b');
  limiter.forget('a');
  assert.deepEqual([limiter.retries('a'), limiter.retries('b'), limiter.size], [0, 1, 1]);
  assert.equal(limiter.next('a'), 5);
  limiter.forget('a');
  limiter.forget('b');
  assert.equal(limiter.size, 0);
});

test('all keys together: 100 at once, then 10 per second', () => {
  const limiter = new RetryLimiter(new FakeClock());
  const waits = Array.from({ length: 120 }, (_, n) => limiter.next(`key-${n}`));
  assert.deepEqual(new Set(waits.slice(0, 100)), new Set([5]));
  assert.deepEqual(
    waits.slice(100).map(Math.round),
    Array.from({ length: 20 }, (_, n) => (n + 1) * 100),
  );
});

test('the line of all keys fills up with time, never above its burst', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, 10, 3);
  const reserve = (count: number) => Array.from({ length: count }, () => Math.round(bucket.reserve()));
  assert.deepEqual(reserve(5), [0, 0, 0, 100, 200]);
  await clock.advance(200);
  assert.deepEqual(reserve(1), [100]);
  await clock.advance(3_600_000);
  assert.deepEqual(reserve(4), [0, 0, 0, 100]);
});

test('limits that make no sense are refused', () => {
  assert.throws(() => new RetryLimiter(new FakeClock(), { base: 10, cap: 5 }), RangeError);
  assert.throws(() => new RetryLimiter(new FakeClock(), { perSecond: 0 }), RangeError);
});

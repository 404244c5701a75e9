import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../../base/clock.ts';
import { RetryLimiter, TokenBucket } from '../../../../kube/queue/rate-limit.ts';
import { DelayQueue } from '../../../../kube/queue/waiting-keys.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';

function delays(clock = new FakeClock()) {
  const rang: string[] = [];
  const from = clock.monotonic();
  const waiting = new DelayQueue<string>(clock, (key) => rang.push(`${key} at ${clock.monotonic() - from}`));
  return { clock, waiting, rang };
}

test('however many wait, one sleep is under way; taken back or closed, none is', async () => {
  const { clock, waiting, rang } = delays();
  for (let n = 200; n > 0; n--) waiting.set(`key-${n}`, n * 10);
  await atRest();
  assert.deepEqual([clock.sleepers, waiting.size], [1, 200]);
  await clock.advance(1000);
  assert.deepEqual([clock.sleepers, waiting.size, rang.length], [1, 100, 100]);
  waiting.close();
  waiting.set('b', 10);
  await clock.advance(10_000);
  assert.deepEqual([clock.sleepers, waiting.size, rang.length], [0, 0, 100]);
  const other = delays();
  other.waiting.set('a', 10);
  await atRest();
  other.waiting.delete('a');
  await atRest();
  assert.deepEqual([other.clock.sleepers, other.waiting.delete('a')], [0, false]);
});

test('no time at all: rung next, and not while it is asked for', async () => {
  const { waiting, rang } = delays();
  waiting.set('a', 0);
  assert.deepEqual(rang, []);
  await atRest();
  assert.deepEqual(rang, ['a at 0']);
});

test('a timer that rings early is asked again: no key is early', async () => {
  const clock = new FakeClock();
  let slept = 0;
  // Real timers round down to whole milliseconds, and the two clocks drift.
  const hasty: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => {
      slept += 1;
      return clock.sleep(slept === 1 ? ms * 0.9 : ms, signal);
    },
    after: (ms, ring) => clock.after(ms, ring),
  };
  const rang: number[] = [];
  const waiting = new DelayQueue<string>(hasty, () => rang.push(clock.monotonic()));
  const due = clock.monotonic() + 100;
  waiting.set('a', 100);
  await clock.advance(95);
  assert.deepEqual(rang, []);
  await clock.advance(5);
  assert.deepEqual(rang, [due]);
});

/** Without the line of all keys, which has a test of its own. */
const alone = { perSecond: 1e9, burst: 1e9 };

test('a key waits twice as long with each failure, from 5 ms to 1000 s', () => {
  const limiter = new RetryLimiter(new FakeClock(), alone);
  const waits = Array.from({ length: 20 }, () => limiter.next('a'));
  assert.deepEqual(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.deepEqual(waits.slice(17), [5 * 2 ** 17, 1_000_000, 1_000_000]);
});

test('a forgotten key starts again and leaves nothing behind', () => {
  const limiter = new RetryLimiter(new FakeClock(), alone);
  for (const key of ['a', 'a', 'b']) limiter.next(key);
  limiter.forget('a');
  assert.deepEqual([limiter.retries('a'), limiter.retries('b'), limiter.size], [0, 1, 1]);
  assert.equal(limiter.next('a'), 5);
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

test('limits and delays that make no sense are refused', () => {
  assert.throws(() => new RetryLimiter(new FakeClock(), { base: 10, cap: 5 }), RangeError);
  assert.throws(() => new RetryLimiter(new FakeClock(), { perSecond: 0 }), RangeError);
  for (const ms of [NaN, Infinity]) assert.throws(() => delays().waiting.set('a', ms), RangeError);
});

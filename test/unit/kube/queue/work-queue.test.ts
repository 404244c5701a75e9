import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { RetryLimiter, TokenBucket } from '../../../../kube/queue/rate-limit.ts';
import { DelayQueue } from '../../../../kube/queue/waiting-keys.ts';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';

const never = new AbortController().signal;

function workQueue() {
  const clock = new FakeClock();
  const queue = new WorkQueue('test', { clock });
  const sizes = () => ({ ready: queue.length, processing: queue.processing, delayed: queue.delayed, failing: queue.failing });
  return { clock, queue, sizes, get: () => queue.get(never) };
}
const empty = { ready: 0, processing: 0, delayed: 0, failing: 0 };

test('keys are handed out in the order of their coming, each once, and to one worker at a time', async () => {
  const { queue, get, sizes } = workQueue();
  for (const key of ['a', 'b', 'a']) queue.add(key);
  assert.deepEqual([await get(), await get(), sizes()], ['a', 'b', { ...empty, processing: 2 }]);
  for (const key of ['a', 'c', 'a']) queue.add(key);
  assert.equal(await get(), 'c', 'a is still with a worker');
  queue.done('a');
  assert.equal(await get(), 'a');
  for (const key of ['a', 'b', 'c']) queue.done(key);
  assert.deepEqual(sizes(), empty);
});

test('a key comes back at the earliest of its times, one that fails after a backoff that a success ends', async () => {
  const { clock, queue, get, sizes } = workQueue();
  for (const ms of [40, 10, 30]) queue.addAfter('a', ms);
  queue.addAfter('b', 20);
  queue.addAfter('now', 0);
  assert.deepEqual(sizes(), { ...empty, ready: 1, delayed: 2 });
  await clock.advance(10);
  assert.deepEqual([await get(), await get(), sizes()], ['now', 'a', { ...empty, processing: 2, delayed: 1 }]);
  await clock.advance(1_000);
  assert.deepEqual([await get(), queue.delayed], ['b', 0]);
  for (const ms of [5, 10, 20]) {
    queue.addRateLimited('a');
    queue.done('a');
    await clock.advance(ms - 1);
    assert.deepEqual([queue.length, queue.delayed], [0, 1]);
    await clock.advance(1);
    assert.equal(await get(), 'a');
  }
  assert.equal(queue.retries('a'), 3);
  queue.forget('a');
  assert.deepEqual([queue.retries('a'), clock.sleepers], [0, 0]);
});

test('an aborted wait takes no key with it and leaves no listener', async () => {
  const { queue, get } = workQueue();
  const first = new AbortController();
  const waiting = queue.get(first.signal);
  assert.equal(getEventListeners(first.signal, 'abort').length, 1);
  first.abort();
  assert.equal(await waiting, undefined);
  queue.add('a');
  assert.equal(await queue.get(first.signal), undefined);
  assert.equal(await get(), 'a');
  const second = new AbortController();
  const served = queue.get(second.signal);
  queue.add('b');
  assert.equal(await served, 'b');
  assert.equal(getEventListeners(second.signal, 'abort').length, 0);
});

test('done with a key that nobody has is an error of the program', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  assert.throws(() => queue.done('a'), RangeError);
  await get();
  queue.done('a');
  assert.throws(() => queue.done('a'), RangeError);
});

test('shut down: no more keys, those in the line are still handed out, then none', async () => {
  const { clock, queue, get, sizes } = workQueue();
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  queue.addRateLimited('d');
  await get();
  queue.add('a');
  queue.shutDown();
  queue.add('e');
  queue.addAfter('f', 10);
  queue.addRateLimited('d');
  await atRest();
  assert.equal(clock.sleepers, 0);
  assert.equal(queue.retries('d'), 1);
  assert.equal(await get(), 'b');
  queue.done('a');
  assert.equal(await get(), 'a');
  queue.done('a');
  queue.done('b');
  assert.equal(await get(), undefined);
  queue.forget('d');
  assert.deepEqual(sizes(), empty);
});

function delays(clock = new FakeClock()) {
  const rang: string[] = [];
  const from = clock.monotonic();
  const waiting = new DelayQueue<string>(clock, (key) => rang.push(`${key} at ${clock.monotonic() - from}`));
  return { clock, waiting, rang };
}

test('however many wait, one sleep is under way; closed, none is', async () => {
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
});

test('no time at all: rung next, and not while it is asked for', async () => {
  const { waiting, rang } = delays();
  waiting.set('a', 0);
  assert.deepEqual(rang, []);
  await atRest();
  assert.deepEqual(rang, ['a at 0']);
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

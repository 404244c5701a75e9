import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
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

test('keys come out in the order in which they came, each once', async () => {
  const { queue, get, sizes } = workQueue();
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  assert.equal(queue.length, 3);
  assert.deepEqual([await get(), await get(), await get()], ['a', 'b', 'c']);
  for (const key of ['a', 'b', 'c']) queue.done(key);
  assert.deepEqual(sizes(), empty);
});

test('a key added while a worker has it comes again afterwards, once, behind the others', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  await get();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  assert.equal(queue.length, 1);
  queue.done('a');
  assert.deepEqual([await get(), await get()], ['b', 'a']);
  queue.done('a');
  assert.equal(queue.length, 0);
});

test('a key is with one worker at a time', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  await get();
  queue.add('a');
  let second: string | undefined = 'nothing yet';
  void get().then((key) => (second = key));
  await atRest();
  assert.equal(second, 'nothing yet');
  queue.done('a');
  await atRest();
  assert.equal(second, 'a');
});

test('those who wait are served in turn', async () => {
  const { queue, get } = workQueue();
  const waiting = [get(), get(), get()];
  for (const key of ['a', 'b', 'c']) queue.add(key);
  assert.deepEqual(await Promise.all(waiting), ['a', 'b', 'c']);
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

test('a key whose taker aborts in the same turn is still with that taker', async () => {
  const { queue } = workQueue();
  const stop = new AbortController();
  const waiting = queue.get(stop.signal);
  queue.add('a');
  stop.abort();
  assert.equal(await waiting, 'a');
  assert.equal(queue.processing, 1);
});

test('done with a key that nobody has is an error of the program', async () => {
  const { queue, get } = workQueue();
  assert.throws(() => queue.done('a'), RangeError);
  queue.add('a');
  assert.throws(() => queue.done('a'), RangeError);
  await get();
  queue.done('a');
  assert.throws(() => queue.done('a'), RangeError);
});

test('a delayed key comes when its time has come, at once for none, and not twice for an add meanwhile', async () => {
  const { clock, queue, get, sizes } = workQueue();
  queue.addAfter('late', 50);
  queue.addAfter('now', 0);
  queue.addAfter('past', -5);
  assert.deepEqual([queue.length, queue.delayed], [2, 1]);
  await clock.advance(49);
  assert.equal(queue.length, 2);
  queue.add('late');
  await clock.advance(1);
  assert.equal(queue.length, 3);
  assert.deepEqual([await get(), await get(), await get()], ['now', 'past', 'late']);
  for (const key of ['now', 'past', 'late']) queue.done(key);
  assert.deepEqual(sizes(), empty);
});

test('a delay that is no time is refused', () => {
  const { queue } = workQueue();
  for (const ms of [NaN, Infinity]) assert.throws(() => queue.addAfter('a', ms), RangeError);
});

test('failures put a key off longer and longer, until it is forgotten', async () => {
  const { clock, queue } = workQueue();
  const waits: number[] = [];
  for (let failure = 0; failure < 4; failure++) {
    queue.addRateLimited('a');
    const from = clock.monotonic();
    while (queue.length === 0) await clock.advance(1);
    waits.push(clock.monotonic() - from);
    await queue.get(never);
    queue.done('a');
  }
  assert.deepEqual(waits, [5, 10, 20, 40]);
  assert.equal(queue.retries('a'), 4);
  queue.forget('a');
  assert.equal(queue.retries('a'), 0);
  queue.addRateLimited('a');
  await clock.advance(5);
  assert.equal(queue.length, 1);
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

test('shut down wakes those who wait, with nothing', async () => {
  const { queue, get } = workQueue();
  const stop = new AbortController();
  const waiting = [get(), queue.get(stop.signal)];
  queue.shutDown();
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

test('drained when nothing is in the line or with a worker', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  queue.add('b');
  await get();
  queue.add('a');
  let drained: boolean | undefined;
  void queue.drain(never).then((is) => (drained = is));
  for (const key of ['a', 'b', 'a']) {
    await atRest();
    assert.equal(drained, undefined);
    if (key === 'b') assert.equal(await get(), 'b');
    if (key === 'a' && queue.processing === 0) assert.equal(await get(), 'a');
    queue.done(key);
  }
  await atRest();
  assert.equal(drained, true);
  assert.equal(await queue.drain(never), true);
});

test('a drain that is given up says so and leaves no listener', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  await get();
  const stop = new AbortController();
  const draining = queue.drain(stop.signal);
  stop.abort();
  assert.equal(await draining, false);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  queue.done('a');
});

test('keys of all kinds come and go, and nothing of them stays', async () => {
  const { clock, queue, get, sizes } = workQueue();
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < 1000; n++) {
      const key = `${round}/${n}`;
      if (n % 20 === 0) queue.addRateLimited(key);
      else if (n % 3 === 0) queue.addAfter(key, n);
      else queue.add(key);
    }
    await clock.advance(60_000);
    while (queue.length > 0) {
      const key = (await get()) ?? '';
      queue.forget(key);
      queue.done(key);
    }
    assert.deepEqual(sizes(), empty);
    assert.equal(clock.sleepers, 0);
  }
});

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

test('drained when nothing is in the line or with a worker; a drain that is given up says so and leaves no listener', async () => {
  const { queue, get } = workQueue();
  queue.add('a');
  await get();
  queue.add('a');
  const stop = new AbortController();
  const givenUp = queue.drain(stop.signal);
  let drained: boolean | undefined;
  void queue.drain(never).then((is) => (drained = is));
  stop.abort();
  assert.equal(await givenUp, false);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  for (const left of [1, 0]) {
    queue.done('a');
    await atRest();
    assert.equal(drained, left === 0 ? true : undefined);
    if (left > 0) await get();
  }
  assert.equal(await queue.drain(never), true);
});

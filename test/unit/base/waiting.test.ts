import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { backoff, Trigger } from '../../../base/waiting.ts';
import { atRest, FakeClock } from '../../support/fake-clock.ts';

/** Whether `promise` is settled once everything that can move has moved. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await atRest();
  return done;
}
const never = (): AbortSignal => new AbortController().signal;

// `n` it is notified, `w` a wait that ends, `W` one that does not.
for (const { why, steps } of [
  { why: 'notified before anyone waits is not lost, and counts once', steps: 'n n w W' },
  { why: 'wakes its waiter, and the next wait waits again', steps: 'W n W n W' },
  { why: 'notified after a wait is there for the next one', steps: 'n w n w W' },
])
  test(`a trigger ${why}`, async () => {
    const due = new Trigger();
    const waiting: Promise<unknown>[] = [];
    for (const step of steps.split(' ')) {
      if (step === 'n') {
        due.notify();
        for (const one of waiting.splice(0)) assert.equal(await isDone(one), true);
      } else {
        const wait = due.wait(never());
        assert.equal(await isDone(wait), step === 'w');
        if (step === 'W') waiting.push(wait);
      }
    }
  });

test('a trigger notified while its waiter wakes is there for the next wait', async () => {
  const due = new Trigger();
  const first = due.wait(never());
  due.notify();
  await first;
  due.notify();
  assert.equal(await isDone(due.wait(never())), true);
});

test('an abort ends a wait, before it and during it, and leaves the flag as it is', async () => {
  const due = new Trigger();
  const end = new AbortController();
  const waiting = due.wait(end.signal);
  end.abort();
  assert.equal(await isDone(waiting), true);
  assert.equal(await isDone(due.wait(end.signal)), true);
  due.notify();
  await due.wait(end.signal);
  assert.equal(await isDone(due.wait(never())), true, 'the flag raised after the abort is still up');
});

test('a wait with a limit tells a raised flag from time that is over', async () => {
  const due = new Trigger();
  const clock = new FakeClock();
  const over = due.waitOr(1000, clock, never());
  await clock.advance(999);
  assert.equal(await isDone(over), false);
  await clock.advance(1);
  assert.equal(await over, false);

  const raised = due.waitOr(1000, clock, never());
  due.notify();
  assert.equal(await raised, true);
  assert.equal(clock.sleepers, 0, 'the timer that is not needed any more is gone');
  assert.equal(await isDone(due.wait(never())), false, 'the flag was taken down');

  due.notify();
  assert.equal(await due.waitOr(1000, clock, never()), true, 'raised before the wait');
  const end = new AbortController();
  const aborted = due.waitOr(1000, clock, end.signal);
  end.abort();
  assert.equal(await aborted, false);
  assert.equal(clock.sleepers, 0);
});

test('ten thousand waits leave no listener and no timer behind', async () => {
  const due = new Trigger();
  const clock = new FakeClock();
  const { signal } = new AbortController();
  let most = 0;
  for (let n = 0; n < 10_000; n++) {
    const waiting = n % 2 === 0 ? due.wait(signal) : due.waitOr(1000, clock, signal);
    most = Math.max(most, getEventListeners(signal, 'abort').length);
    due.notify();
    await waiting;
  }
  assert.equal(most, 1, 'a wait listens once');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(clock.sleepers, 0);
});

test('a wait doubles with each failure up to the longest one, and is at most a fifth longer', () => {
  const wait = (failures: number, random = 0): number => backoff(failures, { base: 10, cap: 50 }, () => random);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 10_000].map((failures) => wait(failures)),
    [10, 10, 20, 40, 50, 50],
  );
  assert.equal(wait(1, 1), 12);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
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
for (const steps of ['n n w W', 'W n W n W', 'n w n w W'])
  test(`a trigger keeps one notification for the next wait, and wakes its waiter: ${steps}`, async () => {
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

test('a trigger notified while its waiter wakes is there for the next wait; an abort leaves it as it is', async () => {
  const due = new Trigger();
  const first = due.wait(never());
  due.notify();
  await first;
  due.notify();
  assert.equal(await isDone(due.wait(never())), true);
  const end = new AbortController();
  const waiting = due.wait(end.signal);
  end.abort();
  assert.deepEqual([await isDone(waiting), await isDone(due.wait(end.signal))], [true, true]);
  due.notify();
  await due.wait(end.signal);
  assert.equal(await isDone(due.wait(never())), true, 'the flag raised after the abort is still up');
});

test('a wait with a limit tells a raised flag from time that is over, and leaves no timer', async () => {
  const due = new Trigger();
  const clock = new FakeClock();
  const over = due.waitOr(1000, clock, never());
  await clock.advance(999);
  assert.equal(await isDone(over), false);
  await clock.advance(1);
  assert.equal(await over, false);
  const raised = due.waitOr(1000, clock, never());
  due.notify();
  assert.deepEqual([await raised, clock.sleepers], [true, 0]);
  assert.equal(await isDone(due.wait(never())), false, 'the flag was taken down');
  const end = new AbortController();
  const aborted = due.waitOr(1000, clock, end.signal);
  end.abort();
  assert.deepEqual([await aborted, clock.sleepers], [false, 0]);
});

test('a wait doubles with each failure up to the longest one, and is at most a fifth longer', () => {
  const wait = (failures: number, random = 0): number => backoff(failures, { base: 10, cap: 50 }, () => random);
  assert.deepEqual([0, 1, 2, 3, 4, 10_000].map((failures) => wait(failures)), [10, 10, 20, 40, 50, 50]); // prettier-ignore
  assert.equal(wait(1, 1), 12);
});

const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;

test('the clock of the machine sleeps and rings after the time, and wakes with the reason of its signal', async () => {
  const before = timers();
  const from = realClock.monotonic();
  await Promise.all([realClock.sleep(20), new Promise<void>((resolve) => void realClock.after(20, resolve))]);
  assert.ok(realClock.monotonic() - from >= 19);
  const stop = new AbortController();
  const reason = new Error('enough');
  const sleeping = assert.rejects(realClock.sleep(60_000, stop.signal), (error) => error === reason);
  stop.abort(reason);
  await sleeping;
  await assert.rejects(realClock.sleep(60_000, stop.signal), (error) => error === reason, 'it had aborted before');
  realClock.after(60_000, () => assert.fail('it rang'))();
  assert.equal(timers(), before, 'nothing is left behind');
});

test('a time that no timer of the machine can wait for is waited for, and can be stopped in the midst of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rung: string[] = [];
  const month = 30 * 86_400_000;
  realClock.after(month, () => rung.push('kept'));
  const stop = realClock.after(month, () => rung.push('stopped'));
  t.mock.timers.tick(2 ** 31 - 1);
  stop();
  t.mock.timers.tick(month - (2 ** 31 - 1) - 1);
  assert.deepEqual(rung, []);
  t.mock.timers.tick(1);
  assert.deepEqual(rung, ['kept']);
  t.mock.timers.reset();
  const asked: number[] = [];
  t.mock.method(globalThis, 'setTimeout', (ring: () => void, ms: number) => {
    asked.push(ms);
    queueMicrotask(ring);
  });
  await realClock.sleep(2 ** 31 + 4_999);
  assert.deepEqual(asked, [2 ** 31 - 1, 5_000]);
});

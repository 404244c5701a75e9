import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../../base/clock.ts';
import { DelayQueue } from '../../../../kube/queue/waiting-keys.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';

function delays(clock = new FakeClock()) {
  const rang: string[] = [];
  const from = clock.monotonic();
  const waiting = new DelayQueue<string>(clock, (key) => rang.push(`${key} at ${clock.monotonic() - from}`));
  return { clock, waiting, rang };
}

test('however many wait, one sleep is under way', async () => {
  const { clock, waiting } = delays();
  for (let n = 200; n > 0; n--) {
    waiting.set(`key-${n}`, n * 10);
    await Promise.resolve();
    assert.ok(clock.sleepers <= 1);
  }
  await atRest();
  assert.equal(clock.sleepers, 1);
  assert.equal(waiting.size, 200);
  await clock.advance(1000);
  assert.equal(waiting.size, 100);
  assert.equal(clock.sleepers, 1);
  waiting.close();
  await atRest();
  assert.equal(clock.sleepers, 0);
  assert.equal(waiting.size, 0);
});

test('taking the last key back leaves no sleep behind', async () => {
  const { clock, waiting } = delays();
  waiting.set('a', 10);
  await atRest();
  waiting.delete('a');
  await atRest();
  assert.equal(clock.sleepers, 0);
  assert.equal(waiting.delete('a'), false);
});

test('no time at all: rung next, and not while it is asked for', async () => {
  const { clock, waiting, rang } = delays();
  for (const ms of [0, -5]) {
    waiting.set('a', ms);
    assert.deepEqual(rang.splice(0), []);
    await atRest();
    assert.deepEqual(rang.splice(0), ['a at 0']);
  }
  assert.equal(clock.sleepers, 0);
});

test('closed in the turn in which it was asked, it never sleeps and never rings', async () => {
  const { clock, waiting, rang } = delays();
  waiting.set('a', 10);
  waiting.close();
  waiting.set('b', 10);
  await clock.advance(100);
  assert.deepEqual(rang, []);
  assert.equal(clock.sleepers, 0);
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

test('a delay that is no time is refused', () => {
  const { waiting } = delays();
  for (const ms of [NaN, Infinity]) assert.throws(() => waiting.set('a', ms), RangeError);
  assert.equal(waiting.size, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline, DeadlineError } from '../../../../kube/client/deadline.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('a deadline aborts when its time is up, and says how long that was', async () => {
  const clock = new FakeClock();
  using deadline = new Deadline(clock, 1_000);
  await clock.advance(999);
  assert.equal(deadline.signal.aborted, false);
  assert.equal(deadline.leftMs, 1);
  await clock.advance(1);
  assert.ok(deadline.signal.reason instanceof DeadlineError);
  assert.match(deadline.signal.reason.message, /no answer within 1000 ms/);
});

test('progress starts the time anew, but not the whole', async () => {
  const clock = new FakeClock();
  using deadline = new Deadline(clock, 1_000, undefined, 5_000);
  for (let n = 0; n < 8; n++) {
    await clock.advance(600);
    assert.equal(deadline.signal.aborted, false);
    deadline.touch();
  }
  assert.equal(deadline.leftMs, 200);
  await clock.advance(200);
  assert.match(String(deadline.signal.reason), /not complete within 5000 ms/);
});

test('another time takes the place of the first; without one there is no end', async () => {
  const clock = new FakeClock();
  using deadline = new Deadline(clock, 1_000);
  deadline.reset(5_000);
  await clock.advance(4_999);
  assert.equal(deadline.signal.aborted, false);
  deadline.reset(undefined);
  await clock.advance(100_000);
  assert.equal(deadline.signal.aborted, false);
  assert.equal(clock.sleepers, 0);
});

test("the caller's signal and another end go before; nothing is left behind", async () => {
  const clock = new FakeClock();
  const caller = new AbortController();
  const reasons = [new Error('caller'), new Error('another')] as const;
  {
    using deadline = new Deadline(clock, 1_000, caller.signal);
    using other = new Deadline(clock, 1_000, caller.signal);
    other.end(reasons[1]);
    caller.abort(reasons[0]);
    assert.deepEqual([deadline.signal.reason, other.signal.reason], reasons);
    using late = new Deadline(clock, 1_000, caller.signal);
    assert.equal(late.signal.reason, reasons[0]);
  }
  assert.equal(clock.sleepers, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline, DeadlineError, defaultLimits, Semaphore } from '../../../../kube/client/limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import * as fc from 'fast-check';

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

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('slots are given in the order of asking, never more than there are, and none is lost to those who gave up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom('take', 'take', 'release', 'abort'), { maxLength: 40 }),
      async (count, script) => {
        const slots = new Semaphore(count);
        const given: number[] = [];
        const held: Disposable[] = [];
        const waiting = new Map<number, AbortController>();
        const expected: number[] = [];
        let asked = 0;
        let free = count;
        for (const step of script) {
          if (step === 'take') {
            const id = asked++;
            const stop = new AbortController();
            const takes = free > 0;
            if (takes) {
              free--;
              expected.push(id);
            } else waiting.set(id, stop);
            void slots.take(stop.signal).then(
              (slot) => {
                given.push(id);
                held.push(slot);
              },
              (error: unknown) => assert.equal(error, stop.signal.reason),
            );
          } else if (step === 'release') {
            const slot = held.shift();
            if (slot === undefined) continue;
            const [next] = waiting.keys();
            if (next === undefined) free++;
            else {
              waiting.delete(next);
              expected.push(next);
            }
            slot[Symbol.dispose]();
          } else {
            const [id, stop] = [...waiting].at(-1) ?? [];
            if (id === undefined) continue;
            waiting.delete(id);
            stop?.abort(new Error('gave up'));
          }
          await turn();
          assert.equal(slots.waiting, waiting.size);
          assert.ok(held.length <= count);
        }
        assert.deepEqual(given, expected);
      },
    ),
    { numRuns: 100 },
  );
});

test('an aborted signal takes no slot', async () => {
  const slots = new Semaphore(1);
  await assert.rejects(slots.take(AbortSignal.abort(new Error('enough'))), /enough/);
  using _slot = await slots.take(new AbortController().signal);
});

test('a limit that lets nothing through is refused; the default ones fit on one connection with watches beside them', () => {
  for (const count of [0, -1, Number.NaN, 1.5]) assert.throws(() => new Semaphore(count), RangeError);
  const { reading, listing, writing } = defaultLimits;
  assert.ok(reading + listing + writing < 100);
});

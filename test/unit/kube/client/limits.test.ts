import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline, DeadlineError, defaultLimits, Semaphore, slowStart } from '../../../../kube/client/limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('a deadline aborts when its time is up, and says how long that was; progress starts the time anew, but not the whole', async () => {
  const clock = new FakeClock();
  using deadline = new Deadline(clock, 1_000);
  using whole = new Deadline(clock, 1_000, undefined, 2_000);
  await clock.advance(999);
  assert.deepEqual([deadline.signal.aborted, deadline.leftMs], [false, 1]);
  whole.touch();
  await clock.advance(1);
  assert.ok(deadline.signal.reason instanceof DeadlineError);
  assert.match(deadline.signal.reason.message, /no answer within 1000 ms/);
  assert.equal(whole.signal.aborted, false);
  whole.touch();
  await clock.advance(1_000);
  assert.match(String(whole.signal.reason), /not complete within 2000 ms/);
  using endless = new Deadline(clock, 1_000);
  endless.reset(undefined);
  await clock.advance(100_000);
  assert.equal(endless.signal.aborted, false);
});

test('a limit that lets nothing through is refused; the default ones fit on one connection with watches beside them', () => {
  for (const count of [0, Number.NaN]) assert.throws(() => new Semaphore(count), RangeError);
  for (const limits of [{ first: 0 }, { largest: 0 }])
    assert.throws(() => void slowStart([1], () => Promise.resolve(), limits), RangeError);
  const { reading, listing, writing } = defaultLimits;
  assert.ok(reading + listing + writing < 100);
});

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A server that answers all calls under way together, round after round. @returns how many were under way in each round */
async function rounds(total: number, limits: { first?: number; largest?: number } = {}, quota = Infinity): Promise<number[]> {
  const waiting: { item: number; answer: PromiseWithResolvers<number> }[] = [];
  const call = (item: number): Promise<number> => {
    const answer = Promise.withResolvers<number>();
    waiting.push({ item, answer });
    return answer.promise;
  };
  const over = slowStart(range(total), call, limits);
  const sizes: number[] = [];
  while (waiting.length > 0) {
    const round = waiting.splice(0);
    sizes.push(round.length);
    for (const { item, answer } of round)
      if (item < quota) answer.resolve(item);
      else answer.reject(new Error('exceeded quota'));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  return sizes;
}

for (const { why, total, limits, sizes } of [
  { why: 'nothing to do', total: 0, limits: {}, sizes: [] },
  { why: 'a burst of the DaemonSet controller', total: 250, limits: {}, sizes: [1, 2, 4, 8, 16, 32, 64, 123] },
  { why: 'a limit', total: 10, limits: { largest: 3 }, sizes: [1, 2, 3, 3, 1] },
  { why: 'a first window', total: 20, limits: { first: 4 }, sizes: [4, 8, 8] },
])
  test(`calls under way, answered together, for ${why}`, async () => assert.deepEqual(await rounds(total, limits), sizes));

test('nothing begins after a failure or an abort, and what is under way is finished, in the order of the items', async () => {
  const refused = new Error('quota');
  const { done, failed, skipped } = await slowStart(range(20), (item) => {
    if (item === 4) throw refused; // at once, not as a rejection
    return new Promise((resolve) => setImmediate(resolve, item));
  });
  assert.deepEqual(done, [0, 1, 2, 3].map((item) => ({ item, value: item }))); // prettier-ignore
  assert.deepEqual([failed, skipped], [[{ item: 4, error: refused }], range(20).slice(5)]);
  const stop = new AbortController();
  const call = (item: number): Promise<void> => Promise.resolve(item === 2 ? stop.abort() : undefined);
  const stopped = await slowStart(range(10), call, { signal: stop.signal });
  assert.deepEqual([stopped.done.length, stopped.skipped.length], [3, 7]);
});

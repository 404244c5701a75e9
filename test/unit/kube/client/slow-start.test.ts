import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowStart } from '../../../../kube/client/limits.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A server that answers all calls under way together, round after round. @returns how many were under way in each round */
async function rounds(total: number, limits: { first?: number; largest?: number } = {}, quota = Infinity): Promise<number[]> {
  const waiting: { item: number; answer: PromiseWithResolvers<number> }[] = [];
  const over = slowStart(
    range(total),
    (item) => {
      const answer = Promise.withResolvers<number>();
      waiting.push({ item, answer });
      return answer.promise;
    },
    limits,
  );
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

const cases: { why: string; total: number; limits?: { first?: number; largest?: number }; sizes: number[] }[] = [
  { why: 'nothing to do', total: 0, sizes: [] },
  { why: 'one', total: 1, sizes: [1] },
  { why: 'a burst of the DaemonSet controller', total: 250, sizes: [1, 2, 4, 8, 16, 32, 64, 123] },
  { why: 'a limit', total: 200, limits: { largest: 50 }, sizes: [1, 2, 4, 8, 16, 32, 50, 50, 37] },
  { why: 'an odd limit', total: 10, limits: { largest: 3 }, sizes: [1, 2, 3, 3, 1] },
  { why: 'a first window', total: 20, limits: { first: 4 }, sizes: [4, 8, 8] },
  { why: 'a first window above the limit', total: 5, limits: { first: 4, largest: 2 }, sizes: [2, 2, 1] },
];
for (const { why, total, limits, sizes } of cases)
  test(`calls under way, answered together, for ${why}`, async () => assert.deepEqual(await rounds(total, limits), sizes));

test('a window that lets no call through is refused', () => {
  for (const limits of [{ first: 0 }, { largest: 0 }, { first: Number.NaN }])
    assert.throws(() => void slowStart([1], () => Promise.resolve(), limits), RangeError);
});

test('whatever the quota, no more calls are refused than one more than have succeeded', async () => {
  for (const quota of range(130)) {
    const asked = (await rounds(500, {}, quota)).reduce((sum, size) => sum + size, 0);
    assert.ok(asked - quota <= quota + 1, `${asked} calls with a quota of ${quota}`);
  }
});

test('one slow answer keeps no other call waiting', async () => {
  const slow = Promise.withResolvers<number>();
  let begun = 0;
  const over = slowStart(range(100), async (item) => {
    begun++;
    return item === 1 ? slow.promise : item;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(begun, 100);
  slow.resolve(-1);
  const { done } = await over;
  assert.deepEqual(
    done.map(({ value }) => value),
    range(100).with(1, -1),
    'in the order of the items',
  );
});

test('nothing begins after a failure, and what is under way is finished', async () => {
  const refused = new Error('quota');
  const { done, failed, skipped } = await slowStart(range(20), (item) => {
    if (item === 4) throw refused; // at once, not as a rejection
    return new Promise((resolve) => setImmediate(resolve, item));
  });
  assert.deepEqual(
    done.map(({ item, value }) => [item, value]),
    [0, 1, 2, 3].map((item) => [item, item]),
  );
  assert.deepEqual(failed, [{ item: 4, error: refused }]);
  assert.deepEqual(skipped, range(20).slice(5));
});

test('no call begins after the signal has aborted', async () => {
  const stop = new AbortController();
  const { done, skipped } = await slowStart(
    range(10),
    (item) => {
      if (item === 2) stop.abort();
      return Promise.resolve(item);
    },
    { signal: stop.signal },
  );
  assert.deepEqual([done.length, skipped.length], [3, 7]);
});

test('what is left of very many is no failure of its own', async () => {
  const refused = new Error('quota');
  const { failed, skipped } = await slowStart(range(300_000), () => Promise.reject(refused));
  assert.deepEqual(failed, [{ item: 0, error: refused }]);
  assert.equal(skipped.length, 299_999);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchSizes, slowStart } from '../../../../kube/controller/slow-start.ts';

const cases: { why: string; total: number; limits?: { first?: number; largest?: number }; sizes: number[] }[] = [
  { why: 'nothing to do', total: 0, sizes: [] },
  { why: 'one', total: 1, sizes: [1] },
  { why: 'a burst of the DaemonSet controller', total: 250, sizes: [1, 2, 4, 8, 16, 32, 64, 123] },
  {
    why: 'a thousand pods of a parallel StatefulSet',
    total: 1_100,
    limits: { largest: 500 },
    sizes: [1, 2, 4, 8, 16, 32, 64, 128, 256, 500, 89],
  },
  { why: 'an odd limit', total: 10, limits: { largest: 3 }, sizes: [1, 2, 3, 3, 1] },
  { why: 'a first batch above the limit', total: 5, limits: { first: 4, largest: 2 }, sizes: [2, 2, 1] },
];
for (const { why, total, limits, sizes } of cases) test(`batches for ${why}`, () => assert.deepEqual(batchSizes(total, limits), sizes));

test('batches that come to no end are refused', () => {
  assert.throws(() => batchSizes(1, { first: 0 }), RangeError);
  assert.throws(() => batchSizes(1, { largest: 0 }), RangeError);
  assert.throws(() => batchSizes(1, { first: Number.NaN }), RangeError);
});

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test('a batch goes out at once, the next one when it is done', async () => {
  let under = 0;
  const peaks: number[] = [];
  const { done, failed, skipped } = await slowStart(range(10), async (item) => {
    peaks.push((under += 1));
    await new Promise((resolve) => setImmediate(resolve));
    under -= 1;
    return item * 2;
  });
  assert.deepEqual(peaks, [1, 1, 2, 1, 2, 3, 4, 1, 2, 3]);
  assert.deepEqual(
    done.map(({ value }) => value),
    range(10).map((item) => item * 2),
  );
  assert.deepEqual([failed, skipped], [[], []]);
});

test('a batch with an error is the last one, and is finished', async () => {
  const refused = new Error('quota');
  const { done, failed, skipped } = await slowStart(range(20), (item) => {
    if (item === 4) throw refused; // at once, not as a rejection
    return Promise.resolve(item);
  });
  assert.deepEqual(
    done.map(({ item }) => item),
    [0, 1, 2, 3, 5, 6],
  );
  assert.deepEqual(failed, [{ item: 4, error: refused }]);
  assert.deepEqual(skipped, range(20).slice(7));
});

test('no batch begins after the signal has aborted', async () => {
  const stop = new AbortController();
  const { done, skipped } = await slowStart(
    range(10),
    (item) => {
      if (item === 2) stop.abort();
      return Promise.resolve(item);
    },
    { signal: stop.signal },
  );
  assert.equal(done.length, 3);
  assert.equal(skipped.length, 7);
});

test('what is left of very many is no failure of its own', async () => {
  const refused = new Error('quota');
  const { failed, skipped } = await slowStart(range(300_000), () => Promise.reject(refused));
  assert.deepEqual(failed, [{ item: 0, error: refused }]);
  assert.equal(skipped.length, 299_999);
});

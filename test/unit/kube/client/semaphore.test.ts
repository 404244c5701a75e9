import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { defaultLimits, Semaphore } from '../../../../kube/client/semaphore.ts';

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

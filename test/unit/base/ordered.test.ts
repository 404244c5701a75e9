import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { IndexedHeap } from '../../../base/ordered.ts';

const keys = Array.from({ length: 26 }, (_, n) => `key-${n}`);
const key = fc.constantFrom(...keys);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('set' as const), key, value: fc.integer({ min: 0, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pop' as const) }) },
);

test('a heap answers as a list that is sorted each time', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 150 }), (steps) => {
      const heap = new IndexedHeap<string, number>((a, b) => a - b);
      // In the order in which the keys came; sorting is stable, so equal values stay in it.
      let model: { key: string; value: number }[] = [];
      const sorted = () => model.toSorted((a, b) => a.value - b.value);
      for (const one of steps) {
        switch (one.do) {
          case 'set': {
            const known = model.find(({ key }) => key === one.key);
            if (known) known.value = one.value;
            else model.push({ key: one.key, value: one.value });
            heap.set(one.key, one.value);
            break;
          }
          case 'delete':
            assert.equal(
              heap.delete(one.key),
              model.some(({ key }) => key === one.key),
            );
            model = model.filter(({ key }) => key !== one.key);
            break;
          case 'pop': {
            const [first] = sorted();
            const popped = heap.pop();
            assert.deepEqual(popped && { key: popped.key, value: popped.value }, first);
            model = model.filter((entry) => entry !== first);
            break;
          }
        }
        const first = heap.peek();
        assert.deepEqual([first && { key: first.key, value: first.value }, heap.size], [sorted()[0], model.length]);
        for (const key of keys) {
          const value = model.find((entry) => entry.key === key)?.value;
          assert.equal(heap.get(key), value);
          assert.equal(heap.has(key), value !== undefined);
        }
        assert.deepEqual(Array.from(heap.entries(), ({ key }) => key).toSorted(), model.map(({ key }) => key).toSorted());
      }
      const rest = Array.from({ length: heap.size - 1 }, () => heap.pop()?.key);
      assert.deepEqual(rest, sorted().slice(0, -1).map(({ key }) => key)); // prettier-ignore
      heap.clear();
      assert.deepEqual([heap.size, heap.peek(), heap.pop(), keys.some((one) => heap.has(one))], [0, undefined, undefined, false]);
    }),
    { numRuns: 200 },
  );
});

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
        assert.deepEqual(first && { key: first.key, value: first.value }, sorted()[0]);
        assert.equal(heap.size, model.length);
        for (const key of keys) {
          const value = model.find((entry) => entry.key === key)?.value;
          assert.equal(heap.get(key), value);
          assert.equal(heap.has(key), value !== undefined);
        }
        assert.deepEqual(Array.from(heap.entries(), ({ key }) => key).toSorted(), model.map(({ key }) => key).toSorted());
      }
      assert.deepEqual(
        Array.from({ length: heap.size }, () => heap.pop()?.key),
        sorted().map(({ key }) => key),
      );
    }),
    { numRuns: 200 },
  );
});

test('a cleared heap is as new', () => {
  const heap = new IndexedHeap<string, number>((a, b) => a - b);
  heap.set('a', 2);
  heap.set('b', 1);
  heap.clear();
  assert.deepEqual([heap.size, heap.has('a'), heap.peek(), heap.pop(), heap.delete('b')], [0, false, undefined, undefined, false]);
  heap.set('a', 3);
  assert.equal(heap.pop()?.value, 3);
});

test('work on a heap of 2 ** n grows with n', () => {
  // What each operation costs is how often it compares.
  const comparisonsAt = (size: number): number => {
    let comparisons = 0;
    const heap = new IndexedHeap<number, number>((a, b) => ((comparisons += 1), a - b));
    const scattered = (at: number): number => Math.imul(at, 0x9e3779b1) >>> 0;
    for (let at = 0; at < size; at++) heap.set(at, scattered(at));
    comparisons = 0;
    for (let at = 0; at < 1000; at++) {
      heap.set(at % size, scattered(at + 7));
      heap.delete((at * 3 + 1) % size);
      heap.set((at * 3 + 1) % size, scattered(at));
      heap.pop();
    }
    return comparisons / 1000;
  };
  const [small, large] = [comparisonsAt(2 ** 11), comparisonsAt(2 ** 16)];
  // 5 levels more, at most two comparisons each in each of four operations.
  assert.ok(large - small <= 5 * 2 * 4, `${small.toFixed(1)} comparisons grew to ${large.toFixed(1)}`);
});

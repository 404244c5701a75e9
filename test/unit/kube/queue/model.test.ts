import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { WorkQueue } from '../../../../kube/queue/work-queue.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';

/** What a queue should do, said as plainly as possible: lists that are searched and sorted each time. */
class NaiveQueue {
  ready: string[] = [];
  processing: string[] = [];
  dirty: string[] = [];
  delayed: { key: string; at: number; order: number }[] = [];
  failures: Record<string, number> = {};
  /** Numbers of the workers that wait, and what each worker was given. */
  waiting: number[] = [];
  given: [worker: number, key: string][] = [];
  #order = 0;

  add(key: string): void {
    if (this.processing.includes(key)) this.dirty = [...new Set([...this.dirty, key])];
    else this.ready = [...new Set([...this.ready, key])];
    this.#serve();
  }

  addAfter(key: string, at: number, now: number): void {
    const known = this.delayed.find((one) => one.key === key);
    if (at <= now) this.add(key);
    else if (known === undefined) this.delayed.push({ key, at, order: this.#order++ });
    else known.at = Math.min(known.at, at);
  }

  addRateLimited(key: string, now: number): void {
    const failures = this.failures[key] ?? 0;
    this.failures[key] = failures + 1;
    this.addAfter(key, now + Math.min(5 * 2 ** failures, 1_000_000), now);
  }

  get(worker: number): void {
    this.waiting.push(worker);
    this.#serve();
  }

  done(key: string): void {
    this.processing = this.processing.filter((one) => one !== key);
    if (this.dirty.includes(key)) {
      this.dirty = this.dirty.filter((one) => one !== key);
      this.ready.push(key);
    }
    this.#serve();
  }

  moveTo(now: number): void {
    for (;;) {
      const [due] = this.delayed.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at || a.order - b.order);
      if (due === undefined) return;
      this.delayed = this.delayed.filter((one) => one !== due);
      this.add(due.key);
    }
  }

  #serve(): void {
    const [key] = this.ready;
    const [worker] = this.waiting;
    if (key === undefined || worker === undefined) return;
    this.ready.shift();
    this.waiting.shift();
    this.processing.push(key);
    this.given.push([worker, key]);
    this.#serve();
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const which = fc.nat({ max: 5 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('addAfter' as const), key, ms: fc.integer({ min: -1, max: 40 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('give up' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('done' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
);

test('whatever happens in whatever order, the queue does what the plainest one does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new FakeClock();
      const queue = new WorkQueue('test', { clock, limits: { perSecond: 1e9, burst: 1e9 } });
      const model = new NaiveQueue();
      const workers: AbortController[] = [];
      const given: [number, string][] = [];
      const get = (): void => {
        const worker = workers.length;
        const stop = new AbortController();
        workers.push(stop);
        model.get(worker);
        void queue.get(stop.signal).then((key) => key !== undefined && given.push([worker, key]));
      };
      const finish = (key: string | undefined, failed: boolean): void => {
        if (key === undefined) return;
        if (failed) queue.addRateLimited(key);
        else queue.forget(key);
        queue.done(key);
        if (failed) model.addRateLimited(key, clock.monotonic());
        else delete model.failures[key];
        model.done(key);
      };
      const advance = async (ms: number): Promise<void> => {
        await clock.advance(ms);
        model.moveTo(clock.monotonic());
      };

      for (const one of steps) {
        if (one.do === 'add') {
          queue.add(one.key);
          model.add(one.key);
        } else if (one.do === 'addAfter') {
          queue.addAfter(one.key, one.ms);
          model.addAfter(one.key, clock.monotonic() + one.ms, clock.monotonic());
        } else if (one.do === 'get') get();
        else if (one.do === 'give up') {
          const worker = model.waiting[one.which];
          workers[worker ?? -1]?.abort();
          model.waiting = model.waiting.filter((other) => other !== worker);
        } else if (one.do === 'wait') await advance(one.ms);
        else if (one.do === 'rest') await atRest();
        else finish(model.processing[one.which], one.do === 'fail');
        assert.equal(queue.length, model.ready.length);
        assert.equal(queue.processing, model.processing.length);
        assert.equal(queue.delayed, model.delayed.length);
        for (const key of ['a', 'b', 'c', 'd']) assert.equal(queue.retries(key), model.failures[key] ?? 0);
        assert.ok(clock.sleepers <= 1);
      }
      await atRest();
      assert.deepEqual(given, model.given);

      // Everything that was asked for is done at last, and nothing is left over.
      for (const stop of workers) stop.abort();
      model.waiting = [];
      while (model.ready.length + model.processing.length + model.delayed.length > 0) {
        if (model.ready.length > 0) get();
        for (const key of model.processing) finish(key, false);
        await advance(20);
      }
      assert.deepEqual(given, model.given);
      assert.deepEqual([queue.length, queue.processing, queue.delayed, clock.sleepers], [0, 0, 0, 0]);
      for (const { signal } of workers) assert.equal(getEventListeners(signal, 'abort').length, 0);
    }),
    { numRuns: 200 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loop, type LoopOptions, LoopTrigger } from '../../../../scheduler/core/loop.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A queue whose only pod's time comes at the second look, after the first slice. */
function loopOf(binding: number, caches: LoopOptions['caches'] = { settled: true, whenSettled: () => Promise.resolve() }) {
  const clock = new FakeClock();
  const cycle = { inFlight: binding };
  const idle = { idle: () => Promise.resolve() };
  let [ticks, pops, active] = [0, 0, 0];
  const state = {
    now: () => 0,
    config: { api: { maxInflightBinds: 2 }, preemption: { async: true } },
    tick: (): undefined => {
      if ((ticks += 1) === 2) active = 1;
    },
    queue: {
      get sizes() {
        return { active, backoff: 0, unschedulable: 0, gated: 0 };
      },
    },
  };
  const scheduleOne = {
    next: async (): Promise<boolean> => {
      pops += 1;
      active = 0;
      return false;
    },
  };
  const never = { tick: () => undefined };
  const trigger = new LoopTrigger();
  const options = { state, hooks: never, scheduleOne, binding: cycle, assumed: never, tasks: idle, statuses: idle, caches, trigger, clock };
  const loop = new Loop({ ...options, hasExtenders: false } as unknown as LoopOptions);
  return { loop, clock, pops: () => pops, notify: trigger.notify, free: () => (cycle.inFlight = 0) };
}

test('a pod whose time comes while others are decided over is tried at once, and not when something happens', async () => {
  const { loop, clock, pops } = loopOf(0);
  const over = new AbortController();
  const running = loop.run(over.signal);
  await clock.advance(0);
  assert.equal(pops(), 2);
  over.abort();
  await running;
  assert.equal(clock.sleepers, 0);
});

test('it waits where as many are being bound as may be', async () => {
  const { loop, clock, pops, notify, free } = loopOf(2);
  const over = new AbortController();
  const running = loop.run(over.signal);
  await clock.advance(60_000);
  assert.equal(pops(), 0);
  free();
  notify();
  await clock.advance(0);
  assert.equal(pops(), 1);
  over.abort();
  await running;
});

test('nothing is decided while a relist is being applied', async () => {
  const applied = Promise.withResolvers<void>();
  const caches = { settled: false, whenSettled: () => applied.promise };
  const { loop, clock, pops, notify } = loopOf(0, caches);
  const over = new AbortController();
  const running = loop.run(over.signal);
  await clock.advance(5_000);
  notify();
  await clock.advance(5_000);
  assert.equal(pops(), 0);
  caches.settled = true;
  applied.resolve();
  await clock.advance(0);
  assert.ok(pops() > 0);
  over.abort();
  await running;
  assert.equal(clock.sleepers, 0);
});

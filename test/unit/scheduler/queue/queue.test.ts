import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Hint, QueuedPod, SchedulingQueue } from '../../../../scheduler/queue/contract.ts';
import type { QueueOptions } from '../../../../scheduler/queue/queue.ts';
import type { ClusterEvent } from '../../../../scheduler/types.ts';
import { table } from '../../../support/table.ts';
import { pod } from '../builders.ts';
import { info, pop, queueWith } from './set-up.ts';

/** Something that `helps` (its name) sees a reason in; hints here go by the name of the pod that left. */
const gone = (name: string): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: podInfoOf(pod(name).on('n').build()) });
const byName: Hint = (_, event) => event.kind === 'assigned-pod-deleted' && event.before.name.startsWith('helps');
const setUp = (more: Partial<QueueOptions> = {}) => queueWith(byName, more);
const poolOf = (queue: SchedulingQueue, name: string) => queue.find(`uid-default-${name}`)?.pool;

function drain(queue: SchedulingQueue): string[] {
  const names: string[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) names.push(next.info.name);
  return names;
}

function refuse(queue: SchedulingQueue, queued: QueuedPod, by: Rejector = 'NodeResourcesFit', now = queued.info): void {
  queue.requeue(queued, { why: 'refused', by: new Set([by]) }, now);
}

/*
 * What may happen in a row is compared in model.test.ts; what it seldom comes to stands here. Acts: `add a`, `pop` (and it is remembered), `refuse a`, `wake helps`,
 * `wait 5` (seconds), and what else a queue does with a pod: `activate`, `hold`, `release`, `done`. At the end: where the pods are, and who comes out one after the other.
 */
const acts = table('acts | pools | out | why')(`
  add a, add b, add c, pop, wake helps, pop, refuse a, pop, refuse b, done c | a backoff, b unschedulable | a
    | hears nothing of what happened while another was in flight
  add a, pop, hold a, release a, refuse a                     | a backoff       | a | is tried once more when it was released in flight
  add a, pop, refuse a, wait 299                              | a unschedulable |   | waits for five minutes
  add a, pop, refuse a, wait 300                              | a active        | a | is tried again after five minutes without an attempt
  add a, pop, refuse a, hold a, activate a, wait 600, release a | a active      | a | is tried when it is released, and was activated before
`);
for (const { why, acts: text, pools, out } of acts)
  test(`a pod ${why}`, () => {
    const { queue, clock } = setUp();
    const popped = new Map<string, QueuedPod>();
    const does: Record<string, (name: string) => void> = {
      add: (name) => queue.add(info(pod(name))),
      pop: () => {
        const one = pop(queue);
        popped.set(one.info.name, one);
      },
      refuse: (name) => refuse(queue, popped.get(name) ?? assert.fail(name)),
      wake: (name) => queue.enqueueOn(gone(name)),
      wait: (seconds) => {
        clock.now += Number(seconds) * 1_000;
        queue.tick();
      },
    };
    for (const [act = '', name = ''] of text.split(', ').map((one) => one.split(' ')))
      if (does[act] !== undefined) does[act](name);
      else queue[act as 'hold'](`uid-default-${name}`);
    assert.equal([...queue.list()].map(({ queued, pool }) => `${queued.info.name} ${pool}`).join(', '), pools);
    assert.equal(drain(queue).join(' '), out);
  });

test('the order among equals is that of their last attempts, also when the clock is set back', () => {
  const { queue, clock } = setUp();
  for (const name of ['a', 'b', 'c']) queue.add(info(pod(name)));
  const a = pop(queue);
  clock.now -= 60_000;
  refuse(queue, a);
  queue.activate(a.info.uid);
  clock.now += 1_000;
  queue.tick();
  assert.deepEqual(drain(queue), ['b', 'c', 'a']);
});

const backoffs: { why: string; of: string; waits: number[] }[] = [
  { why: 'refusals', of: 'refused refused refused refused refused refused', waits: [1, 2, 4, 8, 10, 10] },
  { why: 'errors', of: 'error error error error error error', waits: [1, 2, 4, 8, 10, 10] },
  { why: 'errors after refusals, which begin anew', of: 'refused refused error error refused error', waits: [1, 2, 1, 2, 4, 1] },
];
for (const { why, of, waits } of backoffs)
  test(`each failure doubles the wait, up to ten seconds: ${why}`, () => {
    const { queue, clock } = setUp();
    queue.add(info(pod('a')));
    const seen = of.split(' ').map((failure) => {
      const queued = pop(queue);
      if (failure === 'error') queue.requeue(queued, { why: 'error' }, queued.info);
      else refuse(queue, queued);
      queue.activate(queued.info.uid);
      const until = queue.find(queued.info.uid)?.backoffUntil ?? 0;
      const wait = (until - clock.now) / 1_000;
      for (const [now, pool] of [
        [until - 1, 'backoff'],
        [until, 'active'],
      ] as const) {
        clock.now = now;
        queue.tick();
        assert.equal(poolOf(queue, 'a'), pool);
      }
      return wait;
    });
    assert.deepEqual(seen, waits);
  });

test('a refused pod backs off when nothing is known of who refused it, in flight and afterwards', () => {
  for (const isEarly of [true, false]) {
    const { queue } = setUp();
    queue.add(info(pod('a')));
    const a = pop(queue);
    if (isEarly) queue.enqueueOn(gone('other'));
    refuse(queue, a, 'VolumeZone');
    if (!isEarly) queue.enqueueOn(gone('other'));
    assert.equal(poolOf(queue, 'a'), 'backoff');
  }
});

for (const how of ['queued', 'in flight'] as const)
  test(`a pod that was made again takes the place of the one that had its name, ${how}`, () => {
    const { queue } = setUp();
    const [old, made] = [info(pod('a').uid('1')), info(pod('a').uid('2'))];
    queue.add(old);
    const queued = how === 'in flight' ? pop(queue) : undefined;
    queue.add(made);
    assert.equal(queue.find('1'), undefined);
    if (queued !== undefined) refuse(queue, queued);
    assert.equal(queue.delete(old), false, 'what is said of the old one does not hit the new one');
    assert.deepEqual(
      [...queue.list()].map(({ queued: { info }, pool }) => [info.uid, pool]),
      [['2', 'active']],
    );
    assert.equal(queue.delete(made), true);
  });

const ownChanges = [
  { why: 'asking for less', before: pod('a').cpu('2'), after: pod('a').cpu('1'), pool: 'backoff' },
  { why: 'asking for more', before: pod('a').cpu('1'), after: pod('a').cpu('2'), pool: 'unschedulable' },
  { why: 'another label', before: pod('a'), after: pod('a').labels({ a: 'b' }), pool: 'unschedulable' },
];
for (const { why, before, after, pool } of ownChanges)
  test(`a pod that was refused for want of room, after ${why}, is ${pool}`, () => {
    for (const when of ['afterwards', 'in flight', 'with its return'] as const) {
      const { queue } = setUp();
      queue.add(info(before));
      const queued = pop(queue);
      if (when === 'in flight') queue.add(info(after));
      refuse(queue, queued, 'NodeResourcesFit', when === 'afterwards' ? info(before) : info(after));
      if (when === 'afterwards') queue.add(info(after));
      assert.equal(poolOf(queue, 'a'), pool, when);
      assert.equal(queue.find('uid-default-a')?.queued.info, info(after), when);
    }
  });

test('a waiting pod that changes keeps its place in the line, unless its priority is another', () => {
  const { queue } = setUp();
  for (const one of [pod('a'), pod('b'), pod('c'), pod('a').labels({ x: 'y' }), pod('c').priority(1)]) queue.add(info(one));
  assert.deepEqual(drain(queue), ['c', 'a', 'b']);
});

test('one look at an event does for all pods of a class that were refused alike', () => {
  let looks = 0;
  const counted: Hint = () => ++looks < 0;
  const hints = new Map<Rejector, Hint>([
    ['NodeResourcesFit', counted],
    ['InterPodAffinity', counted],
  ]);
  const { queue } = setUp({ hints, classOf: ({ namespace }) => namespace });
  const refusals: { by: Rejector; short?: ReadonlySet<string>; labels?: Record<string, string> }[] = [
    { by: 'NodeResourcesFit' },
    { by: 'NodeResourcesFit', short: new Set(['cpu']) },
    { by: 'NodeResourcesFit', labels: { a: 'b' } }, // labels are nothing to this one
    { by: 'InterPodAffinity', labels: { a: 'b', c: 'd' } },
    { by: 'InterPodAffinity', labels: { c: 'd', a: 'b' } },
    { by: 'InterPodAffinity', labels: { c: 'd' } },
  ];
  for (const [kind, { by, short, labels }] of refusals.entries())
    for (let n = 0; n < 50; n++) {
      queue.add(info(pod(`p-${kind}-${n}`).labels(labels ?? {})));
      const queued = pop(queue);
      queue.requeue(queued, { why: 'refused', by: new Set([by]), ...(short && { short }) }, queued.info);
    }
  queue.enqueueOn(gone('any'));
  assert.equal(queue.sizes.unschedulable, 300);
  assert.equal(looks, 4);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterEvent } from '../../../../scheduler/types.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Hint, QueuedPod, SchedulingQueue } from '../../../../scheduler/queue/contract.ts';
import type { QueueOptions } from '../../../../scheduler/queue/queue.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { pod } from '../builders.ts';
import { FLUSH, info, pop, queueWith } from './set-up.ts';

/** Something that `helps` (its name) sees a reason in; hints here go by the name of the pod that left. */
const gone = (name: string): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: podInfoOf(pod(name).on('n').build()) });
const byName: Hint = (_, event) => event.kind === 'assigned-pod-deleted' && event.before.name.startsWith('helps');
const setUp = (more: Partial<QueueOptions> = {}) => queueWith(byName, more);
const add = (queue: SchedulingQueue, ...names: string[]) => names.forEach((name) => queue.add(info(pod(name))));
const poolOf = (queue: SchedulingQueue, name: string) => queue.find(`uid-default-${name}`)?.pool;

function drain(queue: SchedulingQueue): string[] {
  const names: string[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) names.push(next.info.name);
  return names;
}

function refuse(queue: SchedulingQueue, queued: QueuedPod, by: Rejector = 'NodeResourcesFit', now = queued.info): void {
  queue.requeue(queued, { why: 'refused', by: new Set([by]) }, now);
}

test('more important pods go first, then those that are prioritized, then those that came first', () => {
  const { queue } = setUp({ prioritized: ({ name }) => name.startsWith('kept') });
  for (const [name, priority] of Object.entries({ a: 0, b: 5, 'kept-c': 0, d: 5, e: 0, 'kept-f': -1 }))
    queue.add(info(pod(name).priority(priority)));
  assert.deepEqual(drain(queue), ['b', 'd', 'kept-c', 'a', 'e', 'kept-f']);
});

test('a pod that comes to be prioritized moves up, and back', () => {
  const kept = new Set<string>();
  const { queue } = setUp({ prioritized: ({ uid }) => kept.has(uid) });
  add(queue, 'a', 'b', 'c');
  kept.add('uid-default-c');
  queue.reorder('uid-default-c');
  kept.add('uid-default-b');
  queue.reorder('uid-default-b');
  kept.delete('uid-default-c');
  queue.reorder('uid-default-c');
  assert.deepEqual(drain(queue), ['b', 'a', 'c']);
});

test('the order among equals is that of their last attempts, also when the clock is set back', () => {
  const { queue, clock } = setUp();
  add(queue, 'a', 'b', 'c');
  const a = pop(queue);
  clock.now -= 60_000;
  refuse(queue, a);
  queue.activate(a.info.uid);
  clock.now += 1_000;
  queue.tick();
  assert.deepEqual(drain(queue), ['b', 'c', 'a']);
});

test('each failure doubles the wait, up to ten seconds; errors are counted by themselves', () => {
  const cases = [
    { why: 'refusals', of: ['refused', 'refused', 'refused', 'refused', 'refused', 'refused'], waits: [1, 2, 4, 8, 10, 10] },
    { why: 'errors', of: ['error', 'error', 'error', 'error', 'error', 'error'], waits: [1, 2, 4, 8, 10, 10] },
    {
      why: 'errors after refusals begin anew',
      of: ['refused', 'refused', 'error', 'error', 'refused', 'error'],
      waits: [1, 2, 1, 2, 4, 1],
    },
  ] as const;
  for (const { why, of, waits } of cases) {
    const { queue, clock } = setUp();
    add(queue, 'a');
    const seen = of.map((failure) => {
      const queued = pop(queue);
      if (failure === 'error') queue.requeue(queued, { why: 'error' }, queued.info);
      else refuse(queue, queued);
      queue.activate(queued.info.uid);
      const until = queue.find(queued.info.uid)?.backoffUntil ?? 0;
      const wait = (until - clock.now) / 1_000;
      clock.now = until - 1;
      queue.tick();
      assert.equal(poolOf(queue, 'a'), 'backoff', why);
      clock.now = until;
      queue.tick();
      assert.equal(poolOf(queue, 'a'), 'active', why);
      return wait;
    });
    assert.deepEqual(seen, waits, why);
  }
});

test('where nothing else is to be done, a refused pod does not wait out its backoff; one that failed with an error does', () => {
  const { queue } = setUp();
  add(queue, 'a', 'b');
  const [a, b] = [pop(queue), pop(queue)];
  refuse(queue, a);
  queue.enqueueOn(gone('helps'));
  queue.requeue(b, { why: 'error' }, b.info);
  assert.deepEqual([poolOf(queue, 'a'), poolOf(queue, 'b')], ['backoff', 'backoff']);
  add(queue, 'new');
  assert.deepEqual(drain(queue), ['new', 'a']);
  assert.equal(poolOf(queue, 'b'), 'backoff');
});

const afterRefusal = [
  { why: 'stays when nothing happened', pool: 'unschedulable' },
  { why: 'stays when what happens is no help', wake: 'other', pool: 'unschedulable' },
  { why: 'backs off when something helped meanwhile', wake: 'helps', pool: 'backoff' },
  { why: 'stays when that was told to others only', wake: 'helps', only: (other: PodInfo) => other.name !== 'a', pool: 'unschedulable' },
  { why: 'backs off when that was told to it too', wake: 'helps', only: (other: PodInfo) => other.name === 'a', pool: 'backoff' },
  { why: 'stays when it helps against others than who refused it', wake: 'helps', by: 'NodePorts' as const, pool: 'unschedulable' },
  { why: 'backs off when nothing is known of who refused it', wake: 'other', by: 'VolumeZone' as const, pool: 'backoff' },
];
for (const c of afterRefusal) {
  test(`a refused pod ${c.why}: in flight`, () => {
    const { queue } = setUp();
    add(queue, 'a');
    const a = pop(queue);
    if (c.wake !== undefined) queue.enqueueOn(gone(c.wake), c.only);
    refuse(queue, a, c.by);
    assert.equal(poolOf(queue, 'a'), c.pool);
  });
  test(`a refused pod ${c.why}: afterwards`, () => {
    const { queue, clock } = setUp();
    add(queue, 'a');
    refuse(queue, pop(queue), c.by);
    if (c.wake !== undefined) queue.enqueueOn(gone(c.wake), c.only);
    assert.equal(poolOf(queue, 'a'), c.pool);
    clock.now += 5_000;
    queue.tick();
    assert.equal(poolOf(queue, 'a'), c.pool === 'backoff' ? 'active' : c.pool, 'its backoff ends');
    if (c.wake !== undefined) queue.enqueueOn(gone(c.wake), c.only);
    assert.equal(poolOf(queue, 'a'), c.pool === 'backoff' ? 'active' : c.pool, 'after its backoff it is tried at once');
  });
}

test('what happened before a pod set out is nothing to it, what happened while another was in flight neither', () => {
  const { queue } = setUp();
  add(queue, 'a', 'b', 'c');
  const a = pop(queue);
  queue.enqueueOn(gone('helps'));
  const b = pop(queue);
  refuse(queue, a);
  const c = pop(queue);
  refuse(queue, b);
  queue.done(c.info.uid);
  assert.deepEqual([poolOf(queue, 'a'), poolOf(queue, 'b'), poolOf(queue, 'c')], ['backoff', 'unschedulable', undefined]);
});

test('a pod that has a place hears of nothing more, and can come back all the same', () => {
  const { queue } = setUp();
  add(queue, 'a', 'b');
  const [a, b] = [pop(queue), pop(queue)];
  queue.assumed(a.info.uid);
  queue.assumed(b.info.uid);
  assert.equal(queue.inFlight, 2);
  queue.requeue(a, { why: 'error' }, a.info);
  refuse(queue, b); // what happened meanwhile is not known: it is tried again
  assert.deepEqual(queue.sizes, { active: 0, backoff: 2, unschedulable: 0, gated: 0 });
  assert.equal(queue.inFlight, 0);
});

test('a refused pod is tried again after five minutes without an attempt', () => {
  const { queue, clock } = setUp();
  add(queue, 'a', 'b');
  refuse(queue, pop(queue));
  clock.now += 1_000;
  refuse(queue, pop(queue));
  const start = clock.now - 1_000;
  assert.equal(queue.tick(), start + FLUSH);
  clock.now = start + FLUSH - 1;
  assert.equal(queue.tick(), start + FLUSH);
  clock.now = start + FLUSH;
  assert.equal(queue.tick(), start + FLUSH + 1_000);
  assert.deepEqual([poolOf(queue, 'a'), poolOf(queue, 'b')], ['active', 'unschedulable']);
  clock.now += 1_000;
  assert.equal(queue.tick(), undefined);
});

test('a gated pod waits for its own gates alone', () => {
  const { queue, clock } = setUp();
  const gated = info(pod('a').spec({ schedulingGates: [{ name: 'wait' }, { name: 'more' }] }));
  queue.add(gated);
  assert.deepEqual(queue.sizes, { active: 0, backoff: 0, unschedulable: 0, gated: 1 });
  queue.enqueueOn(gone('helps'));
  queue.activate(gated.uid);
  queue.hold(gated.uid);
  queue.release(gated.uid);
  clock.now += 2 * FLUSH;
  queue.tick();
  const half = info(pod('a').spec({ schedulingGates: [{ name: 'more' }] }));
  queue.add(half);
  assert.equal(queue.pop(), undefined);
  queue.add(info(pod('a').spec({ schedulingGates: [] })));
  assert.deepEqual(drain(queue), ['a']);
});

test('a pod that is held does not move, whatever happens, and is tried when it is released', () => {
  const whens = ['active', 'in-flight', 'backoff', 'unschedulable'] as const;
  for (const when of whens) {
    const { queue, clock } = setUp();
    add(queue, 'a');
    const { uid } = info(pod('a'));
    const queued = when === 'active' ? undefined : pop(queue);
    if (queued !== undefined && when !== 'in-flight') refuse(queue, queued);
    if (when === 'backoff') queue.activate(uid);
    assert.equal(poolOf(queue, 'a'), when);
    queue.hold(uid);
    if (queued !== undefined && when === 'in-flight') refuse(queue, queued);
    assert.equal(queue.sizes.unschedulable, 1, when);
    queue.enqueueOn(gone('helps'));
    queue.activate(uid);
    clock.now += 2 * FLUSH;
    queue.tick();
    assert.equal(queue.pop(), undefined, when);
    queue.release(uid);
    assert.equal(queue.find(uid)?.held, false);
    assert.deepEqual(drain(queue), ['a'], when);
  }
});

test('a pod that is released while it is in flight is tried once more', () => {
  const { queue } = setUp();
  add(queue, 'a');
  const a = pop(queue);
  queue.hold(a.info.uid);
  queue.release(a.info.uid);
  refuse(queue, a);
  assert.equal(poolOf(queue, 'a'), 'backoff');
});

test('a pod that was made again takes the place of the one that had its name', () => {
  const { queue } = setUp();
  const [old, made] = [info(pod('a').uid('1')), info(pod('a').uid('2'))];
  for (const how of ['queued', 'in flight'] as const) {
    queue.add(old);
    const queued = how === 'in flight' ? pop(queue) : undefined;
    queue.add(made);
    assert.equal(queue.find('1'), undefined, how);
    if (queued !== undefined) refuse(queue, queued);
    assert.equal(queue.delete(old), false, 'what is said of the old one does not hit the new one');
    assert.deepEqual(
      [...queue.list()].map(({ queued: { info }, pool }) => [info.uid, pool]),
      [['2', 'active']],
      how,
    );
    assert.equal(queue.delete(made), true);
  }
});

test('a pod that is deleted is nowhere, wherever it was', () => {
  const { queue } = setUp();
  add(queue, 'active', 'unschedulable', 'backoff', 'flying', 'held');
  const popped = new Map(Array.from({ length: 5 }, () => pop(queue)).map((queued) => [queued.info.name, queued]));
  for (const [name, queued] of popped) {
    if (name === 'flying') continue;
    if (name === 'held') queue.hold(queued.info.uid);
    if (name === 'backoff') queue.requeue(queued, { why: 'error' }, queued.info);
    else refuse(queue, queued);
  }
  const gated = info(pod('gated').spec({ schedulingGates: [{ name: 'wait' }] }));
  queue.add(gated);
  for (const { info } of popped.values()) assert.equal(queue.delete(info), true, info.name);
  assert.equal(queue.delete(gated), true);
  assert.deepEqual([queue.sizes, queue.inFlight], [{ active: 0, backoff: 0, unschedulable: 0, gated: 0 }, 0]);
  for (const queued of popped.values()) refuse(queue, queued);
  assert.deepEqual([...queue.list()], []);
  assert.equal(queue.tick(), undefined);
});

const ownChanges = [
  { why: 'asking for less', before: pod('a').cpu('2'), after: pod('a').cpu('1'), pool: 'backoff' },
  { why: 'asking for more', before: pod('a').cpu('1'), after: pod('a').cpu('2'), pool: 'unschedulable' },
  { why: 'another label', before: pod('a'), after: pod('a').labels({ a: 'b' }), pool: 'unschedulable' },
];
for (const { why, before, after, pool } of ownChanges) {
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
}

test('a waiting pod that changes keeps its place in the line, unless its priority is another', () => {
  const { queue } = setUp();
  add(queue, 'a', 'b', 'c');
  queue.add(info(pod('a').labels({ x: 'y' })));
  queue.add(info(pod('c').priority(1)));
  assert.deepEqual(drain(queue), ['c', 'a', 'b']);
});

test('one look at an event does for all pods of a class that were refused alike', () => {
  let looks = 0;
  const counted: Hint = () => ++looks < 0;
  const { queue } = setUp({
    hints: new Map([
      ['NodeResourcesFit', counted],
      ['InterPodAffinity', counted],
    ]),
    classOf: ({ namespace }) => namespace,
  });
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../base/random.ts';
import type { ClusterEvent } from '../../../../scheduler/types.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Hint, QueuedPod, SchedulingQueue } from '../../../../scheduler/queue/contract.ts';
import { pod } from '../builders.ts';
import { FLUSH, info, pop, queueWith } from './set-up.ts';

const went = (name: string): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: podInfoOf(pod(name).on('n').build()) });
/** Pods of one namespace are helped by whoever goes there. */
const sameNamespace: Hint = ({ namespace }, event) => event.kind === 'assigned-pod-deleted' && event.before.namespace === namespace;
const setUp = () => queueWith(sameNamespace);
const uidOf = (name: string): string => `uid-default-${name}`;

function refuse(queue: SchedulingQueue, queued: QueuedPod, equivalenceClass?: string, by: Rejector = 'NodeResourcesFit'): void {
  queue.requeue(queued, { why: 'refused', by: new Set([by]), ...(equivalenceClass !== undefined && { equivalenceClass }) }, queued.info);
}

/** They come, and are refused likewise. */
function wait(queue: SchedulingQueue, ...names: string[]): void {
  for (const name of names) queue.add(info(pod(name)));
  for (const _ of names) refuse(queue, pop(queue), 'like');
}

const gated = () => info(pod('a').spec({ schedulingGates: [{ name: 'g' }] }));
const by = new Set<Rejector>(['NodeResourcesFit']);
const like = { why: 'refused', equivalenceClass: 'like', by } as const;
const both = new Set<Rejector>(['NodePorts', ...by]);
const meanwhile = (queue: SchedulingQueue, first: QueuedPod, before: () => void): void => {
  before();
  refuse(queue, first, 'like');
};

const outcomes: { why: string; led: (queue: SchedulingQueue, first: QueuedPod) => void; next: string | undefined; after?: string }[] = [
  { why: 'refused like before', led: (queue, first) => refuse(queue, first, 'like'), next: undefined },
  { why: 'refused by others as well', led: (queue, one) => queue.requeue(one, { ...like, by: both }, one.info), next: undefined },
  { why: 'given a place', led: (queue, { info: { uid } }) => queue.assumed(uid), next: 'b' },
  { why: 'of no concern any more', led: (queue, { info: { uid } }) => queue.done(uid), next: 'b' },
  { why: 'gone', led: (queue, first) => queue.delete(first.info), next: 'b' },
  { why: 'refused otherwise', led: (queue, first) => refuse(queue, first, 'other'), next: 'b' },
  { why: 'refused as nobody else', led: (queue, first) => refuse(queue, first), next: 'b' },
  { why: 'an error', led: (queue, first) => queue.requeue(first, { why: 'error' }, first.info), next: 'b' },
  { why: 'one that room is made for', led: (queue, one) => meanwhile(queue, one, () => queue.hold(one.info.uid)), next: 'b' },
  { why: 'one with gates', led: (queue, first) => queue.requeue(first, like, gated()), next: 'b' },
  // The first has to wait the longest now: the others would not have had to, but for it.
  {
    why: 'refused, and something happened',
    led: (queue, one) => meanwhile(queue, one, () => queue.enqueueOn(went('x'))),
    next: 'b',
    after: 'a',
  },
];
for (const { why, led, next, after } of outcomes)
  test(`of pods that were refused likewise one is tried for all: when it is ${why}, ${next ?? 'nobody'} is next`, () => {
    const { queue } = setUp();
    wait(queue, 'a', 'b', 'c');
    queue.enqueueOn(went('x'));
    const first = pop(queue);
    assert.equal(first.info.name, 'a');
    led(queue, first);
    assert.equal(queue.pop()?.info.name, next);
    assert.equal(queue.pop()?.info.name, after, 'no more than that');
  });

const changes: { why: string; does: (queue: SchedulingQueue) => void; next: readonly string[] }[] = [
  { why: 'goes', does: (queue) => queue.delete(info(pod('a'))), next: ['b'] },
  { why: 'is held', does: (queue) => queue.hold(uidOf('a')), next: ['b'] },
  { why: 'gets another label', does: (queue) => queue.add(info(pod('a').labels({ is: 'other' }))), next: ['a', 'b'] },
  { why: 'gets a gate', does: (queue) => queue.add(gated()), next: ['b'] },
  { why: 'is told why it waits', does: (queue) => queue.add(podInfoOf({ ...pod('a').build(), status: { message: 'x' } })), next: ['a'] },
  { why: 'has to wait until something else happens as well', does: (queue) => queue.enqueueOn(went('y')), next: ['a'] },
];
for (const { why, does, next } of changes)
  test(`the line goes on where it should when the pod to be tried for it ${why}`, () => {
    const { queue } = setUp();
    wait(queue, 'a', 'b', 'c');
    queue.enqueueOn(went('x'));
    does(queue);
    const out: string[] = [];
    for (let queued = queue.pop(); queued !== undefined; queued = queue.pop()) out.push(queued.info.name);
    assert.deepEqual(out, next);
  });

test('a pod that comes to be other than those it was refused with is tried for itself', () => {
  const nominated = podInfoOf({ ...pod('a').build(), status: { nominatedNodeName: 'n' } });
  for (const leaves of [
    (queue: SchedulingQueue) => queue.reorder(uidOf('a')),
    (queue: SchedulingQueue) => queue.add(nominated),
    (queue: SchedulingQueue) => queue.add(info(pod('a').labels({ is: 'other' }))),
  ]) {
    const { queue } = setUp();
    wait(queue, 'a', 'b', 'c');
    leaves(queue);
    queue.enqueueOn(went('x'));
    assert.deepEqual([pop(queue).info.name, pop(queue).info.name, queue.pop()], ['a', 'b', undefined]);
  }
});

test('whoever waits in line goes by what the one was refused for that was tried last', () => {
  const { queue } = setUp();
  wait(queue, 'a', 'b');
  queue.enqueueOn(went('x'));
  refuse(queue, pop(queue), 'like', 'NodePorts');
  assert.deepEqual([...(queue.find(uidOf('b'))?.queued.rejectedBy ?? [])], ['NodePorts']);
  queue.enqueueOn(went('x'));
  assert.equal(queue.pop(), undefined, 'nobody waits for that any more');
  queue.activate(uidOf('b'));
  assert.equal(pop(queue).info.name, 'b');
});

test('who has to wait before the next attempt keeps nobody waiting who need not, however busy the queue is', () => {
  const { queue, clock } = setUp();
  const pass = (ms: number): string[] => {
    clock.now += ms;
    queue.tick();
    queue.add(info(pod(`busy-${clock.now}`).priority(-1))); // as long as it is there nobody is tried early
    const out: string[] = [];
    for (let next = queue.pop(); next !== undefined && next.info.priority === 0; next = queue.pop()) {
      out.push(next.info.name);
      refuse(queue, next, 'like');
    }
    return out;
  };
  wait(queue, 'a', 'b');
  assert.deepEqual(pass(1_000), []);
  queue.enqueueOn(went('x'));
  assert.deepEqual(pass(0), ['a'], 'backs off for two seconds now');
  queue.enqueueOn(went('x'));
  assert.deepEqual(pass(100), ['b']);
  queue.enqueueOn(went('x'));
  assert.deepEqual(pass(100), [], 'all of them back off');
  wait(queue, 'late');
  queue.enqueueOn(went('x'));
  assert.deepEqual(pass(999), []);
  assert.deepEqual(pass(1), ['late'], 'sooner than whoever was to be tried for all');
  assert.deepEqual(pass(800), ['a'], 'who still is');
  assert.deepEqual(pass(10_000), [], 'the line sleeps');
  queue.enqueueOn(went('x'));
  assert.deepEqual(pass(0), ['a'], 'and is in the order in which they came');
});

test('who was chosen to be tried for the line lets the first go first, if that one backs off no longer; what was found meanwhile counts', () => {
  const { queue, clock } = setUp();
  wait(queue, 'a', 'b');
  clock.now += 1_000;
  for (const name of ['a', 'b', 'a']) {
    queue.activate(uidOf(name));
    const queued = pop(queue);
    assert.equal(queued.info.name, name);
    refuse(queue, queued, 'like');
  }
  queue.enqueueOn(went('x'));
  assert.deepEqual([queue.find(uidOf('a'))?.pool, queue.find(uidOf('b'))?.pool], ['unschedulable', 'backoff']);
  queue.add(info(pod('c')));
  refuse(queue, pop(queue), 'like', 'NodePorts');
  clock.now += 10_000;
  queue.tick();
  assert.equal(pop(queue).info.name, 'a');
  assert.deepEqual([...(queue.find(uidOf('b'))?.queued.rejectedBy ?? [])], ['NodePorts']);
  assert.equal(queue.find(uidOf('b'))?.pool, 'unschedulable');
});

test('only those are tried for the line whom it was told to', () => {
  const { queue } = setUp();
  wait(queue, 'a', 'b', 'c');
  queue.enqueueOn(went('x'), () => false);
  assert.equal(queue.pop(), undefined);
  queue.enqueueOn(went('x'), ({ name }) => name !== 'a');
  assert.equal(pop(queue).info.name, 'b');
});

test('each pod of a line is tried again after five minutes without an attempt of its own', () => {
  const { queue, clock } = setUp();
  wait(queue, 'a', 'b', 'c');
  clock.now += FLUSH / 2;
  queue.enqueueOn(went('x'));
  refuse(queue, pop(queue), 'like');
  clock.now += FLUSH / 2;
  queue.tick();
  assert.deepEqual([pop(queue).info.name, pop(queue).info.name, queue.pop()], ['b', 'c', undefined]);
});

/** A cluster that is a number of places in each namespace, and a queue before it. */
class Places {
  readonly clock: { now: number };
  readonly queue: SchedulingQueue;
  readonly free = new Map<string, number>();
  /** In the order in which they came. */
  readonly waiting = new Map<string, PodInfo>();
  readonly problems: string[] = [];
  attempts = 0;
  placed = 0;

  constructor() {
    const { clock, queue } = setUp();
    this.clock = clock;
    this.queue = queue;
  }

  come(one: PodInfo): void {
    this.waiting.set(one.uid, one);
    this.queue.add(one);
  }

  leave({ namespace }: PodInfo): void {
    this.free.set(namespace, (this.free.get(namespace) ?? 0) + 1);
    this.queue.enqueueOn(went(`${namespace}/x`));
  }

  /** Tries whoever is to be tried, until nobody is; none backs off by then, for whoever does lets others go first. */
  run(): void {
    this.clock.now += 10_000;
    this.queue.tick();
    for (let queued = this.queue.pop(); queued !== undefined; queued = this.queue.pop()) {
      const { info } = queued;
      const { uid, namespace, priority } = info;
      this.attempts += 1;
      const free = this.free.get(namespace) ?? 0;
      if (free === 0) {
        refuse(this.queue, queued, `${namespace} ${priority}`);
        continue;
      }
      const before = [...this.waiting.values()].find(
        (other) => other.namespace === namespace && (other.priority > priority || (other.priority === priority && other.uid !== uid)),
      );
      const came = [...this.waiting.keys()];
      if (before !== undefined && (before.priority > priority || came.indexOf(before.uid) < came.indexOf(uid)))
        this.problems.push(`${uid} goes before ${before.uid}`);
      this.free.set(namespace, free - 1);
      this.placed += 1;
      this.waiting.delete(uid);
      this.queue.assumed(uid);
      this.queue.done(uid);
    }
    for (const { uid, namespace } of this.waiting.values())
      if ((this.free.get(namespace) ?? 0) > 0) this.problems.push(`${uid} waits, and there is a place`);
  }
}

for (let seed = 1; seed <= 40; seed++)
  test(`the most important pods get the places, and among equals whoever came first; nobody waits beside a free one: seed ${seed}`, () => {
    const random = seededRandom(seed);
    const upTo = (n: number) => Math.floor(random() * n);
    const places = new Places();
    for (let step = 0, made = 0; step < 300; step++) {
      const namespace = `ns-${upTo(3)}`;
      const dice = random();
      const someone = [...places.waiting.values()][upTo(places.waiting.size)];
      if (dice < 0.5) places.come(info(pod(`${namespace}/p${made++}`).priority(upTo(2))));
      else if (dice < 0.75) places.leave(info(pod(`${namespace}/x`)));
      else if (dice < 0.8 && someone !== undefined) {
        places.waiting.delete(someone.uid);
        places.queue.delete(someone);
      } else if (dice < 0.85 && someone !== undefined) places.queue.activate(someone.uid);
      else places.clock.now += upTo(20_000) + (dice > 0.99 ? FLUSH : 0);
      // Several things may happen before anybody is tried.
      if (random() < 0.7) places.run();
    }
    places.run();
    assert.deepEqual(places.problems, []);
  });

test('a place that comes free beside ten thousand who wait costs two attempts, and nobody is passed over', () => {
  const places = new Places();
  const all = Array.from({ length: 10_000 }, (_, n) => info(pod(`p${n}`)));
  for (const one of all) places.come(one);
  places.run();
  places.attempts = 0;
  for (let n = 0; n < 20; n++) {
    places.leave(info(pod('x')));
    places.run();
  }
  assert.deepEqual([places.placed, places.attempts], [20, 40]);
  assert.deepEqual(
    [...places.waiting.values()].map(({ name }) => name),
    all.slice(20).map(({ name }) => name),
  );
});

for (let seed = 1; seed <= 40; seed++)
  test(`whatever becomes of pods, their line goes on: when there is room for all nobody is left over: seed ${seed}`, () => {
    const random = seededRandom(seed);
    const upTo = (n: number) => Math.floor(random() * n);
    const { queue, clock } = setUp();
    const known = new Map<string, PodInfo>();
    let flying: QueuedPod[] = [];
    const make = (n: number) => pod(`ns-${n % 2}/p${n}`).labels(random() < 0.1 ? { is: 'other' } : {});
    const does: ((info: PodInfo) => void)[] = [
      ({ uid }) => queue.hold(uid),
      ({ uid }) => queue.release(uid),
      ({ uid }) => queue.activate(uid),
      ({ uid }) => queue.reorder(uid),
      (one) => {
        const after = info(make(Number(one.name.slice(1))));
        queue.add(after);
        known.set(one.uid, after);
      },
      (one) => {
        queue.delete(one);
        known.delete(one.uid);
      },
    ];
    const land = (queued: QueuedPod, dice: number) => {
      const { uid, namespace } = queued.info;
      const newest = known.get(uid) ?? queued.info;
      const equivalenceClass = `${namespace} ${upTo(8) === 0}`;
      if (dice < 0.1) queue.requeue(queued, { why: 'error' }, newest);
      else if (dice < 0.2) {
        queue.assumed(uid);
        if (dice < 0.15) queue.requeue(queued, { why: 'error' }, newest);
        else {
          queue.done(uid);
          known.delete(uid);
        }
      } else queue.requeue(queued, { why: 'refused', by: new Set(['NodeResourcesFit']), equivalenceClass }, newest);
    };
    for (let step = 0, made = 0; step < 400; step++) {
      const dice = random();
      const one = [...known.values()][upTo(known.size)];
      if (dice < 0.2) {
        const fresh = info(make(made++));
        known.set(fresh.uid, fresh);
        queue.add(fresh);
      } else if (dice < 0.45) flying.push(...[queue.pop()].filter((queued) => queued !== undefined));
      else if (dice < 0.65) for (const queued of flying.splice(upTo(flying.length), 1)) land(queued, random());
      else if (dice < 0.75) queue.enqueueOn(went(`ns-${upTo(2)}/x`), random() < 0.2 ? ({ name }) => name.endsWith('1') : undefined);
      else if (dice < 0.9 && one !== undefined) does[upTo(does.length)]?.(one);
      else {
        clock.now += upTo(3_000);
        queue.tick();
      }
    }
    for (const queued of flying) land(queued, 1);
    flying = [];
    for (const { uid } of known.values()) queue.release(uid);
    for (const namespace of ['ns-0', 'ns-1']) queue.enqueueOn(went(`${namespace}/x`));
    clock.now += 10_000;
    queue.tick();
    const out: string[] = [];
    for (let queued = queue.pop(); queued !== undefined; queued = queue.pop()) {
      out.push(queued.info.uid);
      queue.assumed(queued.info.uid);
      queue.done(queued.info.uid);
    }
    assert.deepEqual(out.toSorted(), [...known.keys()].toSorted());
  });

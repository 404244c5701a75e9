import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Millis } from '../../../../base/clock.ts';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { type Hint, type QueuedPod, type SchedulingQueue, dumpQueue } from '../../../../scheduler/queue/contract.ts';
import { createQueue, type QueueOptions } from '../../../../scheduler/queue/queue.ts';
import { type PodBuilder, pod } from '../builders.ts';
import type { ClusterEvent } from '../../../../scheduler/types.ts';
import { table } from '../../../support/table.ts';

const FLUSH: Millis = 300_000;

/** A queue and its clock. @param resources - what helps a pod that NodeResourcesFit refused; nothing helps one that NodePorts did */
function queueWith(resources: Hint, more: Partial<QueueOptions> = {}) {
  const clock = { now: 1_000_000 };
  const hints = new Map<Rejector, Hint>([
    ['NodeResourcesFit', resources],
    ['NodePorts', () => false],
  ]);
  const limits = { initialBackoffMs: 1_000, maxBackoffMs: 10_000, flushMs: FLUSH };
  return { clock, queue: createQueue({ now: () => clock.now, ...limits, hints, prioritized: () => false, ...more }) };
}

const info = (built: PodBuilder): PodInfo => podInfoOf(built.build());

function pop(queue: SchedulingQueue): QueuedPod {
  const popped = queue.pop();
  assert.ok(popped, 'nothing to pop');
  return popped;
}

/** Something that `helps` (its name) sees a reason in; hints here go by the name of the pod that left. */
const gone = (name: string): ClusterEvent => ({ kind: 'assigned-pod-deleted', before: podInfoOf(pod(name).on('n').build()) });
const byName: Hint = (_, event) => event.kind === 'assigned-pod-deleted' && event.before.name.startsWith('helps');

const gated = (name: string) => pod(name).spec({ schedulingGates: [{ name: 'g' }] });
const builders: Record<string, (name: string) => ReturnType<typeof pod>> = {
  add: pod,
  first: (name) => pod(name).priority(1),
  large: (name) => pod(name).cpu('2'),
  less: (name) => pod(name).cpu('1'),
  gate: gated,
  label: (name) => pod(name).labels({ is: 'other' }),
  remake: (name) => pod(name).uid(`${name} anew`),
};

/** A queue, and what is done to it in words: see the table. */
class Acts {
  readonly #popped = new Map<string, QueuedPod>();
  readonly #made = queueWith(byName);
  readonly queue: SchedulingQueue = this.#made.queue;

  do(act: string): void {
    const [verb = '', name = '', by] = act.split(' ');
    const make = builders[verb];
    if (make !== undefined) this.queue.add(info(make(name)));
    else if (verb === 'pop') {
      const one = pop(this.queue);
      assert.equal(one.info.name, name);
      this.#popped.set(name, one);
    } else if (verb === 'wake') this.queue.enqueueOn(gone(name), by === undefined ? undefined : (one) => one.name === by);
    else if (verb === 'wait') {
      this.#made.clock.now += Number(name) * 1_000;
      this.queue.tick();
    } else if (verb === 'refuse' || verb === 'like' || verb === 'error' || verb === 'gated') {
      const queued = this.#popped.get(name) ?? assert.fail(act);
      const rejectedBy = new Set([(by ?? 'NodeResourcesFit') as Rejector]);
      const equivalent = verb === 'like' ? { equivalenceClass: 'like' } : {};
      const failure = verb === 'error' ? ({ why: 'error' } as const) : ({ why: 'refused', by: rejectedBy, ...equivalent } as const);
      this.queue.requeue(queued, failure, verb === 'gated' ? info(gated(name)) : queued.info);
    } else if (verb === 'likes') for (const one of name) for (const each of [`add ${one}`, `pop ${one}`, `like ${one}`]) this.do(each);
    else if (verb === 'delete') this.queue.delete(info(pod(name)));
    else this.queue[verb as 'hold'](`uid-default-${name}`);
  }

  get pools(): string {
    return [...this.queue.list()].map(({ queued, pool }) => `${queued.info.name} ${pool}`).join(', ');
  }

  drain(): string {
    const names: string[] = [];
    for (let next = this.queue.pop(); next !== undefined; next = this.queue.pop()) names.push(next.info.name);
    return names.join(' ');
  }
}

/*
 * Acts: `pop a` (the next has to be a); what became of it: `refuse a`, `error a`, `gated a` (refused, and has a gate now), `like a` (refused likewise: one of these is tried
 * for all); `likes abc`: they come and are refused likewise; `wake helps b`: something happens that helps (b alone); `wait 5` (seconds); changes of a pod: `less`, `label`,
 * `gate`, `remake`; and what else a queue does with a pod. At the end: where the pods are, and who comes out one after the other.
 */
const acts = table('acts | pools | out | why')(`
  add a, first b, add c                                        | a active, b active, c active | b a c | the more important come first, then those that waited longer
  add a, add b, label a, first b                               | a active, b active | b a | a change keeps a pod its place, unless it becomes more important
  add a, pop a, refuse a                                       | a unschedulable |   | a refused pod waits
  add a, pop a, refuse a, wake other                           | a unschedulable |   | it waits for what helps
  add a, pop a, refuse a, wake helps                           | a backoff       | a | it is tried again when something helps
  add a, add b, pop a, refuse a, wake helps                    | a backoff, b active | b a | who was never tried comes before who backs off
  add a, pop a, refuse a VolumeZone, wake other                | a backoff       | a | it is tried again when nothing is known of who refused it
  add a, add b, pop a, pop b, refuse a, refuse b, wake helps b | a unschedulable, b backoff | b | an event that concerns one pod wakes that one
  add a, pop a, wake helps, refuse a                           | a backoff       | a | what happens in flight is not lost
  add a, pop a, wake helps b, refuse a                         | a unschedulable |   | what happens in flight to another is nothing to it
  add a, add b, add c, pop a, wake helps, pop b, refuse a, pop c, refuse b, done c | a backoff, b unschedulable | a | it hears nothing of what happened while another was in flight
  add a, pop a, assumed a, refuse a                            | a backoff       | a | who was given a place, and lost it, is tried again
  add a, pop a, error a                                        | a backoff       |   | an error is tried again after a while, without waiting for anything to happen
  add a, pop a, error a, wait 0.9                              | a backoff       |   | after a second, and not before
  add a, pop a, error a, wait 1                                | a active        | a | nor later
  add a, pop a, error a, wait 1, pop a, error a, wait 1        | a backoff       |   | the wait doubles
  add a, pop a, refuse a, wait 299                             | a unschedulable |   | a refused pod waits for five minutes
  add a, pop a, refuse a, wait 300                             | a active        | a | and is tried again then, whatever happens
  add a, pop a, refuse a, activate a                           | a backoff       | a | it can be told to try
  add a, pop a, activate a, refuse a                           | a backoff       | a | in flight as well
  add a, pop a, done a, refuse a                               |                 |   | who is done does not come back
  add a, remake a                                              | a active        | a | who is made again takes the place of the one that had its name
  add a, pop a, remake a, refuse a                             | a active        | a | in flight as well
  large a, pop a, less a, refuse a                             | a backoff       | a | who asks for less in flight is tried again
  large a, pop a, refuse a, less a                             | a backoff       | a | and afterwards
  add a, pop a, refuse a, label a                              | a unschedulable |   | another label does not help a pod that was rejected for resources
  gate a, wake helps, wait 600                                 | a gated         |   | a pod with gates is not tried
  gate a, add a                                                | a active        | a | until they are gone
  add a, gate a                                                | a gated         |   | nor one that gets gates
  add a, pop a, gated a                                        | a gated         |   | in flight as well
  add a, pop a, refuse a, gate a                               | a gated         |   | and afterwards
  add a, pop a, hold a, refuse a, wake helps, wait 600         | a unschedulable |   | who waits for its victims is not tried, whatever happens
  add a, pop a, hold a, refuse a, wake helps, release a        | a backoff       | a | until it is released
  add a, pop a, hold a, refuse a, release a                    | a unschedulable |   | then it waits, where nothing has happened
  add a, pop a, refuse a, hold a, activate a, wait 600, release a | a active     | a | and is tried, where it was activated
  large a, pop a, hold a, refuse a, less a, release a          | a backoff       | a | or asks for less
  add a, pop a, hold a, release a, refuse a                    | a backoff       | a | who is released in flight is tried once more
  add a, hold a, release a                                     | a active        | a | who was held before it was tried is tried
  likes abc, wake helps                                        | a backoff, b unschedulable, c unschedulable | a | of pods that were refused likewise one is tried for all
  likes abc, wake helps, pop a, like a                         | a unschedulable, b unschedulable, c unschedulable | | when it is refused as before nobody is next
  likes abc, wake helps, pop a, assumed a                      | a in-flight, b backoff, c unschedulable | b | when it is given a place, the next is tried
  likes abc, wake helps, pop a, refuse a                       | a unschedulable, b backoff, c unschedulable | b | when it is refused otherwise
  likes abc, wake helps, pop a, delete a                       | b backoff, c unschedulable | b | when it is gone
  likes abc, wake helps, hold a                                | a unschedulable, b backoff, c unschedulable | b | when it is held
  likes abc, wake helps, label a                               | a backoff, b backoff, c unschedulable | a b | when it changes
  likes abc, wake helps, pop a, wake helps, like a             | a backoff, b backoff, c unschedulable | b a | who need not back off longer is tried for all
  likes abc, reorder a, wake helps                             | a backoff, b backoff, c unschedulable | a b | who comes to be other than the others is tried for itself
  likes abc, wake helps none                                   | a unschedulable, b unschedulable, c unschedulable | | an event that concerns none of them wakes none
  likes abc, wake helps b                                      | a unschedulable, b backoff, c unschedulable | b | and one that concerns one of them that one
  likes ab, wake helps, pop a, like a NodePorts, wake helps    | a unschedulable, b unschedulable | | all wait for what the last was refused for
  likes abc, wait 150, wake helps, pop a, like a, wait 150     | a unschedulable, b active, c active | b c | each is tried after five minutes without an attempt of its own
  likes ab, wait 1, activate a, pop a, like a, activate b, pop b, like b, activate a, pop a, like a, wake helps, wait 10 | a unschedulable, b active | a | who was chosen lets the first go first, if that one backs off no longer
`);
for (const { why, acts: text, pools, out } of acts)
  test(`the queue: ${why}`, () => {
    const played = new Acts();
    for (const act of text.split(', ')) played.do(act);
    assert.equal(played.pools, pools);
    assert.equal(played.drain(), out);
  });

test('the pod that waits longest decides when to tick again', () => {
  const { clock, queue } = queueWith(byName);
  assert.equal(queue.tick(), undefined);
  queue.add(info(pod('a')));
  const a = pop(queue);
  queue.requeue(a, { why: 'refused', by: new Set(['NodeResourcesFit']) }, a.info);
  assert.equal(queue.tick(), clock.now + 300_000);
});

test('a hint is called once per event for all pods that were rejected alike', () => {
  let looks = 0;
  const counted: Hint = () => ++looks < 0;
  const hints = new Map<Rejector, Hint>((['NodeResourcesFit', 'InterPodAffinity'] as const).map((by) => [by, counted]));
  const { queue } = queueWith(byName, { hints, classOf: ({ namespace }) => namespace });
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

test('the dump of the queue', () => {
  const { clock, queue } = queueWith(() => false, { hints: new Map() });
  clock.now = Date.parse('2026-03-01T00:00:00Z');
  queue.add(info(pod('refused').priority(7)));
  const queued = pop(queue);
  clock.now += 500;
  const [by, short] = [new Set<Rejector>(['TaintToleration', 'NodeResourcesFit']), new Set(['pods', 'cpu'])];
  queue.requeue(queued, { why: 'refused', by, short }, queued.info);
  for (const name of ['flying', 'held', 'active']) queue.add(info(pod(name)));
  queue.add(info(pod('gated').spec({ schedulingGates: [{ name: 'x' }] })));
  queue.hold('uid-default-held');
  queue.pop();
  const { pools, inFlight, pods } = dumpQueue(queue, 300_000);
  assert.deepEqual([pools, inFlight], [{ active: 1, backoff: 0, unschedulable: 2, gated: 1 }, 1]);
  const times = { since: '2026-03-01T00:00:00.000Z', queuedAt: '2026-03-01T00:00:00.500Z', backoffUntil: '2026-03-01T00:00:01.500Z', flushAt: '2026-03-01T00:05:00.500Z' }; // prettier-ignore
  const counts = { priority: 7, attempts: 1, refusals: 1, errors: 0 };
  const refused = { namespace: 'default', name: 'refused', uid: 'uid-default-refused', pool: 'unschedulable', held: false };
  assert.deepEqual(pods[0], {
    ...Object.assign(times, counts, refused, { rejectedBy: ['NodeResourcesFit', 'TaintToleration'], short: ['cpu', 'pods'] }),
    wakesOn: [
      'a pod that uses the missing resource is deleted or shrinks; a node is added or gets more of it; the pod itself requests less',
      'a node is added or loses a taint, or the pod gets a toleration',
    ],
  });
  const rest = pods.map(({ name, pool, held, flushAt, wakesOn }) => [name, pool, held, flushAt !== null, wakesOn.length].join(' '));
  const others = 'flying in-flight false false 0, held unschedulable true false 1, active active false false 0, gated gated false false 1';
  assert.equal(rest.slice(1).join(', '), others);
  assert.equal(dumpQueue(queue, 300_000, undefined, 2).pods.length, 2);
  assert.doesNotThrow(() => structuredClone(dumpQueue(queue, 300_000)));
});

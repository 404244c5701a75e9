import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import type { Pod } from '../../../../controllers/common/types.ts';
import { emptyStatus, NOW, planned, pod, pods, wakesOf, type Situation } from './notation.ts';
import { situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';

const DEADLINE = { 'dkc.dev/progress-deadline': '10m' };

/** One set, looked at again and again; all that it remembers is its status, so that each look might be another process's. */
class Rollout {
  status: DaemonSetStatus = { observedGeneration: 1, ...emptyStatus };
  wakes: string[] = [];
  readonly #over: Partial<Situation>;

  constructor(over: Partial<Situation> = {}) {
    this.#over = over;
  }

  /** @returns `True PodsUpdating 12:00:00, False NotStalled 12:00:00`, of Progressing and Stalled, or 'unchanged' */
  at(seconds: number, nodes: string, pods: string | Pod[], over: Partial<Situation> = {}): string {
    const plan = planned({ nodes, pods, annotations: DEADLINE, status: this.status, now: NOW + seconds * 1_000, ...this.#over, ...over });
    this.wakes = wakesOf(plan);
    if (plan.status === undefined) return 'unchanged';
    this.status = plan.status;
    return ['Progressing', 'Stalled']
      .map((type) => this.#condition(type))
      .map((is) => `${is?.status} ${is?.reason} ${is?.lastTransitionTime?.slice(11, 19)}`)
      .join(', ');
  }

  message(type: 'Progressing' | 'Stalled'): string | undefined {
    return this.#condition(type)?.message;
  }

  #condition(type: string): NonNullable<DaemonSetStatus['conditions']>[number] | undefined {
    return this.status.conditions?.find((one) => one.type === type);
  }
}

test('a rollout moves, and is complete', () => {
  const rollout = new Rollout();
  assert.equal(rollout.at(0, 'a b', 'a@old b@old'), 'True PodsUpdating 12:00:00, False NotStalled 12:00:00');
  assert.equal(rollout.message('Progressing'), '0 of 2 pods are updated, 2 available');
  assert.deepEqual(rollout.wakes, ['600s the progress deadline']);
  assert.equal(rollout.at(1, 'a b', 'a@old- b@old'), 'unchanged', 'a pod that is going counts until it is gone');
  assert.equal(rollout.at(30, 'a b', 'a@new! b@old'), 'True PodsUpdating 12:00:30, False NotStalled 12:00:00');
  assert.equal(rollout.at(40, 'a b', 'a@new b@old'), 'True PodsUpdating 12:00:40, False NotStalled 12:00:00');
  assert.equal(rollout.at(50, 'a b', 'a@new b@new!'), 'True PodsUpdating 12:00:50, False NotStalled 12:00:00');
  assert.equal(rollout.at(60, 'a b', 'a@new b@new'), 'True RolloutComplete 12:01:00, False NotStalled 12:00:00');
  assert.deepEqual(rollout.wakes, []);
  assert.equal(rollout.at(5_000, 'a b', 'a@new b@new'), 'unchanged', 'what is complete never stalls');
});

test('without progress for longer than the deadline a rollout is stalled, until something moves', () => {
  const rollout = new Rollout();
  rollout.at(0, 'a b', 'a@new! b@old');
  assert.equal(rollout.at(599, 'a b', 'a@new! b@old'), 'unchanged');
  assert.deepEqual(rollout.wakes, ['1s the progress deadline']);
  assert.equal(rollout.at(600, 'a b', 'a@new! b@old'), 'False ProgressDeadlineExceeded 12:00:00, True NotReady 12:10:00');
  assert.equal(rollout.message('Progressing'), 'no progress for more than 600 s: 1 of 2 pods are updated, 1 available');
  assert.deepEqual(rollout.wakes, []);
  assert.equal(rollout.at(700, 'a b', 'a@new! b@old'), 'unchanged');
  assert.equal(rollout.at(800, 'a b', 'a@new b@old'), 'True PodsUpdating 12:13:20, False NotStalled 12:13:20');
  assert.deepEqual(rollout.wakes, ['600s the progress deadline']);
});

test('a paused rollout never stalls, and has all its time when it is resumed', () => {
  const rollout = new Rollout();
  rollout.at(0, 'a b', 'a@new! b@old');
  const paused = { annotations: { ...DEADLINE, 'dkc.dev/paused': 'true' } };
  assert.equal(rollout.at(300, 'a b', 'a@new! b@old', paused), 'Unknown RolloutPaused 12:05:00, False NotStalled 12:00:00');
  assert.deepEqual(rollout.wakes, []);
  assert.equal(rollout.at(1_200, 'a b', 'a@new! b@old', paused), 'unchanged');
  assert.equal(rollout.at(1_300, 'a b', 'a@new! b@old'), 'True PodsUpdating 12:21:40, False NotStalled 12:00:00');
});

test('while the last pass is not seen yet a new generation is no progress: nothing is written again and again', () => {
  const rollout = new Rollout();
  rollout.at(0, 'a b', 'a@new! b@old');
  rollout.status = { ...rollout.status, observedGeneration: 1 };
  assert.equal(rollout.at(5, 'a b', 'a@new! b@old', { pendingMs: 100 }), 'unchanged');
  assert.equal(rollout.at(6, 'a b', 'a@new! b@old', { pendingMs: 100 }), 'unchanged');
  assert.equal(rollout.at(7, 'a b', 'a@new! b@old'), 'True PodsUpdating 12:00:07, False NotStalled 12:00:00', 'its time begins when it is looked at'); // prettier-ignore
});

/** What a row says, with the deadline. */
function deadlined(text: string): Partial<Situation> {
  const { annotations, ...situation } = situationOf(text);
  return { ...situation, annotations: { ...DEADLINE, ...annotations } };
}
const complete = table('nodes | pods | is | why')(`
  a b   | a@new b@new                               | complete     | all is new and available
  a b   | a@new b@old +partition=1                  | complete     | all beyond the partition are new
  a b c | a@new b@old c@old +partition=1            | not complete | one beyond the partition is old
  a:x b | a@new b@old +rollout-node-selector=pool=x | complete     | all selected ones are new
  a:x b | a@old b@old +rollout-node-selector=pool=x | not complete | a selected one is old
`);
for (const { nodes, pods: text, is, why } of complete)
  test(`a rollout is ${is} when ${why}`, () => {
    const { pods = '', ...over } = deadlined(text);
    assert.match(new Rollout().at(0, nodes, pods, over), is === 'complete' ? /RolloutComplete/ : /PodsUpdating/);
  });

const waiting = (over: Partial<NonNullable<Pod['status']>>, text = 'b@new!'): Pod[] => {
  const one = pod(text);
  return [...pods('a@new'), { ...one, status: { ...one.status, ...over } }];
};
const ready = { type: 'Ready', status: 'False' };
const blockers = table('nodes | pods | says | why')(`
  a b | a@new b@new! | NotReady: pod b-new on node b: not ready | a pod that is not ready
  a b | a@new b@new# backoff=5 | Failed: pod b-new on node b: failed | a pod that failed
  a b | a@new b@new!- | Terminating: pod b-new on node b: terminating, grace period ends at NOW | a pod that does not go
  a b | a@new | NoPod: node b has no pod | a node without a pod
  a b | a@new b@new minReadySeconds=10000 | MinReadySeconds: pod a-new on node a: ready for less than minReadySeconds (and 1 more nodes)
    | a pod that is ready for less than minReadySeconds
  a b c d | a@new b@new! c@new! | NotReady: pod b-new on node b: not ready (and 2 more nodes) | the first node of several
  a b | a@old b@old +partition=x
    | InvalidAnnotation: dkc.dev/partition is "x"; write a number of nodes, such as "3", or a share, such as "30%"
    | an annotation that cannot be read
`);
const told: { why: string; pods: Pod[]; says: string; backoff?: true }[] = [
  { why: 'what the pod says of itself', pods: waiting({ conditions: [{ ...ready, reason: 'ContainersNotReady' }] }), says: 'ContainersNotReady: pod b-new on node b: not ready (ContainersNotReady)' }, // prettier-ignore
  {
    why: 'a pod that no node takes',
    pods: waiting({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }, ready] }, 'b@new!?'),
    says: 'Unschedulable: pod b-new on node b: not scheduled (Unschedulable)',
  },
  { why: 'why it failed', pods: waiting({ phase: 'Failed', reason: 'Evicted' }), backoff: true, says: 'Evicted: pod b-new on node b: failed (Evicted)' }, // prettier-ignore
];
const stalled: { why: string; nodes: string; pods: string | Pod[]; over: Partial<Situation>; says: string }[] = [
  ...blockers.map(({ pods: text, ...row }) => {
    const { pods = '', ...over } = deadlined(text);
    return { ...row, pods, over };
  }),
  ...told.map(({ backoff, ...row }) => ({ ...row, nodes: 'a b', over: backoff === true ? { memory: { backoffMs: () => 5 } } : {} })),
];
for (const { why, nodes, pods, over, says } of stalled)
  test(`a stalled rollout names ${why}`, () => {
    const rollout = new Rollout(over);
    rollout.at(0, nodes, pods);
    assert.match(rollout.at(600, nodes, pods), /^False ProgressDeadlineExceeded/);
    const stalled = rollout.status.conditions?.find(({ type }) => type === 'Stalled');
    assert.equal(`${stalled?.reason}: ${stalled?.message}`, says.replace('NOW', '2026-03-01T12:00:00Z'));
  });

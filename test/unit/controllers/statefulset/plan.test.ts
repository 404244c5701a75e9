import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, ago, factsOf, numbersOf, planned, setOf, waitOf, type Situation } from './notation.ts';
import { claim } from './objects.ts';
import { plan, type Plan } from '../../../../controllers/statefulset/plan.ts';
import { statusOf } from '../../../../controllers/statefulset/status.ts';

const leaving: (Situation & { why: string; is: string })[] = [
  { why: 'nothing is made', is: '0/0/0 0/0' },
  { why: 'nothing is updated', pods: '0@old 1@old 2@old', is: '3/3/3 3/0' },
  { why: 'nothing is scaled down', replicas: 0, pods: '0@old 1@old!', is: '2/1/1 2/0' },
  { why: 'nothing that ended is deleted', pods: '0@old# 1@old$', is: '2/0/0 2/0' },
  { why: 'nothing is repaired', templates: ['data'], pods: '0@old~ 1@old* 2@old?', is: '3/2/2 3/0' },
  { why: 'nobody owns claims again', templates: ['data'], claims: 'data-0', whenDeleted: 'Delete', pods: '0@old', is: '1/1/1 1/0' },
  { why: 'nothing is recreated', update: 'Recreate', pods: '0@old', is: '1/1/1 1/0' },
  { why: 'no old revision goes', historyLimit: 0, is: '0/0/0 0/0' },
];
for (const parallel of [false, true])
  for (const { why, is, ...situation } of leaving)
    test(`of a set that goes, ${parallel ? 'in parallel' : 'in order'}, ${why}`, () => {
      const facts = factsOf({ ...situation, parallel, leaving: true });
      const todo = plan(facts);
      assert.deepEqual([actionsOf(todo), waitOf(todo), todo.truncate, todo.refused], ['', '', [], []]);
      assert.equal(numbersOf(statusOf(facts, todo, 0)), is);
    });

test('claims of a set that goes do not grow', () => {
  const small = claim('data-web-0', {}, { resources: { requests: { storage: '1Mi' } } });
  const growing = { templates: ['data'], annotations: { 'expand-claims': 'true' } };
  const todo = (leaving: boolean): Plan => plan({ ...factsOf({ ...growing, leaving }), allPvcs: () => [small] });
  assert.deepEqual([todo(false).refused.length, todo(true).refused.length], [1, 0]);
});

const truncations: (Situation & { why: string; goes: string })[] = [
  { why: 'within the limit', revisions: 'a b old new', historyLimit: 2, goes: '' },
  { why: 'one too many, the oldest', revisions: 'a b c old new', historyLimit: 2, goes: 'web-a' },
  { why: 'none is kept', revisions: 'a b old new', historyLimit: 0, goes: 'web-a web-b' },
  { why: 'below 0 all stay', revisions: 'a b old new', historyLimit: -1, goes: '' },
  { why: 'what a pod is of stays', revisions: 'a b old new', historyLimit: 0, pods: '0@a', goes: 'web-b' },
  { why: 'what a pod is of stays while it goes', revisions: 'a b old new', historyLimit: 0, pods: '0@b-', goes: 'web-a' },
  { why: 'what a pod without a place is of stays', revisions: 'a b old new', historyLimit: 0, pods: '7@b', goes: 'web-a' },
  { why: 'what is current stays', revisions: 'old b new', historyLimit: 0, goes: 'web-b' },
];
for (const { why, goes, ...situation } of truncations)
  test(`old revisions: ${why}`, () =>
    assert.equal(
      planned(situation)
        .truncate.map(({ metadata }) => metadata.name)
        .join(' '),
      goes,
    ));

const wakes: (Situation & { why: string; in: string })[] = [
  { why: 'nothing is due', pods: '0@new=5', in: '' },
  { why: 'one needs time', minReady: 30, pods: '0@new=10', in: '20s' },
  { why: 'several need time', minReady: 30, pods: '0@new=10 1@new=5 2@new=40', in: '20s 25s' },
  { why: 'one is not ready', minReady: 30, pods: '0@new!=10', in: '' },
  { why: 'one that needs time is going', minReady: 30, pods: '0@new-=10', in: '' },
  { why: 'one without a place needs time', minReady: 30, replicas: 0, pods: '0@new=10', in: '20s' },
  { why: 'a deadline begins', annotations: { 'progress-deadline': '1m' }, in: '60s' },
  { why: 'a rollout is complete', annotations: { 'progress-deadline': '1m' }, pods: '0@new 1@new 2@new', in: '' },
  { why: 'a rollout is paused', annotations: { 'progress-deadline': '1m', paused: 'true' }, pods: '0@old 1@old 2@old', in: '' },
];
for (const { why, in: expected, ...situation } of wakes)
  test(`when to look again: ${why}`, () =>
    assert.equal(
      planned(situation)
        .wakeUps.map(({ requeueAfter: after }) => `${after / 1_000}s`)
        .join(' '),
      expected,
    ));

const since = (seconds: number, reason = 'PodsUpdating'): NonNullable<Situation['status']> => ({
  observedGeneration: 1,
  replicas: 3,
  readyReplicas: 2,
  availableReplicas: 2,
  updatedReplicas: 1,
  conditions: [
    { type: 'Mine', status: 'True' },
    { type: 'Progressing', status: 'True', reason, lastTransitionTime: ago(seconds) },
    { type: 'Stalled', status: 'False', reason: 'NotStalled', lastTransitionTime: ago(900) },
  ],
});
const stuck = '0@old 1@old 2@new!';
/** `TYPE STATUS REASON`, those of others left out. */
const conditions: (Situation & { why: string; are: string; message?: string })[] = [
  { why: 'it moved lately', status: since(30), pods: stuck, are: 'Progressing True PodsUpdating, Stalled False NotStalled' },
  {
    why: 'nothing has moved for too long',
    status: since(60),
    pods: stuck,
    are: 'Progressing False ProgressDeadlineExceeded, Stalled True NotReady',
    message: 'pod web-2: not ready',
  },
  {
    why: 'one became ready just now',
    status: since(60),
    pods: '0@old 1@old 2@new',
    are: 'Progressing True PodsUpdating, Stalled False NotStalled',
  },
  {
    why: 'one became ready just now, and needs time',
    minReady: 60,
    status: since(60),
    pods: '0@old 1@old 2@new=1',
    are: 'Progressing True PodsUpdating, Stalled False NotStalled',
  },
  {
    why: 'one was updated just now',
    status: since(60),
    pods: '0@old 1@new! 2@new',
    are: 'Progressing True PodsUpdating, Stalled False NotStalled',
  },
  { why: 'one has gone just now', status: since(60), pods: '0@old 1@old', are: 'Progressing True PodsUpdating, Stalled False NotStalled' },
  {
    why: 'there is something new to do',
    status: { ...since(60), observedGeneration: 0 },
    pods: stuck,
    are: 'Progressing True PodsUpdating, Stalled False NotStalled',
  },
  { why: 'all is done', status: since(60), pods: '0@new 1@new 2@new', are: 'Progressing True RolloutComplete, Stalled False NotStalled' },
  {
    why: 'all is done but for those below the partition',
    status: since(60),
    update: { partition: 2 },
    pods: '0@old 1@old 2@new',
    are: 'Progressing True RolloutComplete, Stalled False NotStalled',
  },
  {
    why: 'people delete, and have not',
    status: since(60),
    update: 'OnDelete',
    pods: '0@old 1@old 2@new',
    are: 'Progressing True RolloutComplete, Stalled False NotStalled',
  },
  {
    why: 'one has no place and does not go',
    replicas: 2,
    status: { ...since(60), updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
    pods: '0@new 1@new 2@new-',
    are: 'Progressing False ProgressDeadlineExceeded, Stalled True scaling-down',
    message: `pod web-2: its ordinal is no longer part of the set; terminating, grace period ends at ${ago(0)}`,
  },
  {
    why: 'it is paused',
    annotations: { paused: 'true' },
    status: since(60),
    pods: '0@old 1@old 2@new',
    are: 'Progressing Unknown RolloutPaused, Stalled False NotStalled',
  },
  {
    why: 'an annotation cannot be read',
    annotations: { paused: 'yes' },
    status: { ...since(60), readyReplicas: 3, availableReplicas: 3 },
    pods: '0@old 1@old 2@new',
    are: 'Progressing False ProgressDeadlineExceeded, Stalled True paused',
  },
  {
    why: 'the server drops how many are available',
    status: { observedGeneration: 1, replicas: 3, readyReplicas: 2, updatedReplicas: 1, conditions: since(60).conditions ?? [] },
    pods: stuck,
    are: 'Progressing False ProgressDeadlineExceeded, Stalled True NotReady',
  },
];
for (const { why, are, message, annotations, ...situation } of conditions)
  test(`progress when ${why}`, () => {
    const { conditions: all } = planned({ ...situation, annotations: { 'progress-deadline': '1m', ...annotations } });
    assert.deepEqual(all[0], { type: 'Mine', status: 'True' });
    assert.equal(
      all
        .slice(1)
        .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
        .join(', '),
      are,
    );
    if (message !== undefined) assert.equal(all.find(({ type }) => type === 'Stalled')?.message, message);
  });

test('nobody who sets no deadline gets conditions, and those that were there go', () => {
  assert.deepEqual(planned({ status: since(60), pods: stuck }).conditions, [{ type: 'Mine', status: 'True' }]);
});

test('a plan leaves the set as it is', () => {
  const facts = factsOf({ pods: '0@old 1@old 2@old', annotations: { 'progress-deadline': '1m' } });
  const before = structuredClone(facts.rules.set);
  plan(facts);
  assert.deepEqual(facts.rules.set, before);
  assert.deepEqual(setOf({ annotations: { 'progress-deadline': '1m' } }), before);
});

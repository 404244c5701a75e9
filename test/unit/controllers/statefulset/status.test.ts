import type { StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../../../controllers/statefulset/plan.ts';
import { deletesCurrentPod, statusChange, statusOf } from '../../../../controllers/statefulset/status.ts';
import { factsOf, numbersOf, type Situation } from './notation.ts';

function statusFor(situation: Situation, removed = 0): StatefulSetStatus {
  const facts = factsOf(situation);
  return statusOf(facts, plan(facts), removed);
}

/** Numbers are `replicas/ready/available current/updated`; `at` is currentRevision. */
const cases: (Situation & { why: string; removed?: number; is: string; at?: string })[] = [
  { why: 'nothing is there', is: '0/0/0 0/0' },
  { why: 'a pod is not ready for long enough', minReady: 9, pods: '0@old=5', is: '1/1/0 1/0' },
  { why: 'a pod says it is ready and does not run', pods: '0@old?+', is: '1/0/0 1/0' },
  { why: 'a pod is going: there and ready, of no revision', pods: '0@old- 1@new-', is: '2/2/2 0/0' },
  { why: 'pods are of a third revision', pods: '0@old 1@older 2@new', is: '3/3/3 1/1' },
  { why: 'both revisions are one', current: 'new', pods: '0@new 1@new!', is: '2/1/1 2/2', at: 'new' },
  { why: 'the status names no revision that is there', current: 'gone', pods: '0@new 1@old', is: '2/2/2 1/1', at: 'new' },

  { why: 'a rollout begins', removed: 1, pods: '0@old 1@old 2@old', is: '3/3/3 2/0' },
  { why: 'the first is ready', removed: 1, pods: '0@old 1@old 2@new', is: '3/3/3 1/1' },
  { why: 'all are new, and the last is not ready', pods: '0@new! 1@new 2@new', is: '3/2/2 0/3' },
  { why: 'all are ready', pods: '0@new 1@new 2@new', is: '3/3/3 3/3', at: 'new' },
  { why: 'all are ready, and one is going', pods: '0@new- 1@new 2@new', is: '3/3/3 0/2' },
  { why: 'all are ready, and one without a place', replicas: 2, pods: '0@new 1@new 2@new', is: '3/3/3 0/3' },
  { why: 'the partition keeps none of those that are there', update: { partition: 1 }, pods: '0@new 1@new 2@new', is: '3/3/3 3/3', at: 'new' }, // prettier-ignore
  { why: 'people have deleted all', update: 'OnDelete', pods: '0@new 1@new 2@new', is: '3/3/3 3/3', at: 'new' },
  { why: 'places are reserved', annotations: { 'reserve-ordinals': '1' }, pods: '0@new 2@new 3@new', is: '3/3/3 3/3', at: 'new' },

  { why: 'the set goes', leaving: true, pods: '0@old 1@new!', is: '2/1/1 1/1' },
];
for (const { why, removed, is, at = 'old', ...situation } of cases)
  test(`the status when ${why}`, () => {
    const status = statusFor(situation, removed);
    assert.deepEqual(
      [numbersOf(status), status.currentRevision, status.updateRevision, status.observedGeneration],
      [is, `web-${at}`, 'web-new', 1],
    );
  });

for (const [why, situation, rooms] of [
  ['updated', { pods: '0@old 1@old 2@old' }, 1],
  ['forced', { pods: '0@old!', annotations: { 'forced-rollback': 'true' } }, 1],
  ['scaled down', { pods: '0@old 1@old', replicas: 1 }, 0],
] as [string, Situation, number][])
  test(`pods that make room for others: ${why}`, () => {
    const facts = factsOf(situation);
    const actions = plan(facts).groups.flat();
    assert.deepEqual([actions.length, actions.filter((action) => deletesCurrentPod(facts, action)).length], [1, rooms]);
  });

test('the status keeps conditions of others, and the count of collisions', () => {
  const mine = { type: 'Mine', status: 'True' };
  const status = statusFor({ status: { conditions: [mine], collisionCount: 2 } });
  assert.deepEqual([status.conditions, status.collisionCount], [[mine], 2]);
});

const written: StatefulSetStatus = {
  observedGeneration: 2,
  replicas: 3,
  readyReplicas: 2,
  availableReplicas: 1,
  currentReplicas: 1,
  updatedReplicas: 2,
  currentRevision: 'web-a',
  updateRevision: 'web-b',
  collisionCount: 0,
};
const without = (...names: (keyof StatefulSetStatus)[]): StatefulSetStatus =>
  Object.fromEntries(
    Object.entries(written).filter(([name]) => !names.includes(name as keyof StatefulSetStatus)),
  ) as unknown as StatefulSetStatus;
const progressing = { type: 'Progressing', status: 'True' };

type Change = { why: string; has?: StatefulSetStatus; wants?: Partial<StatefulSetStatus>; is: ReturnType<typeof statusChange> };
const changes: Change[] = [
  { why: 'nothing differs', is: 'nothing' },
  { why: 'the set is newer', wants: { observedGeneration: 3 }, is: 'more' },
  { why: 'the set is older than what was seen', wants: { observedGeneration: 1 }, is: 'nothing' },
  { why: 'another is current', wants: { currentRevision: 'web-b' }, is: 'more' },
  { why: 'another is wanted', wants: { updateRevision: 'web-c' }, is: 'more' },
  { why: 'a condition is new', wants: { conditions: [progressing] }, is: 'more' },
  { why: 'a condition is gone', has: { ...written, conditions: [progressing] }, is: 'more' },
  { why: 'the server drops what is available', has: without('availableReplicas'), is: 'nothing' },
  { why: 'the server drops what is available, and more are ready', has: without('availableReplicas'), wants: { readyReplicas: 3 }, is: 'numbers' }, // prettier-ignore
  { why: 'the server leaves out zeros', has: without('updatedReplicas', 'collisionCount'), wants: { updatedReplicas: 0 }, is: 'nothing' },
];
for (const { why, has = written, wants, is } of changes)
  test(`what writing a status would change when ${why}`, () => assert.equal(statusChange(has, { ...written, ...wants }), is));

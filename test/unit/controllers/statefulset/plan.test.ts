import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, ago, factsOf, numbersOf, planned, waitOf, type Situation } from './notation.ts';
import { situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';
import { plan } from '../../../../controllers/statefulset/plan.ts';
import { statusOf } from '../../../../controllers/statefulset/status.ts';

const leaving = table('situation | is | why')(`
  none                                                  | 0/0/0 0/0 | nothing is made
  0@old 1@old 2@old                                     | 3/3/3 3/0 | nothing is updated
  historyLimit=0                                        | 0/0/0 0/0 | no old revision goes
`);
for (const parallel of [false, true])
  for (const { situation, is, why } of leaving)
    test(`of a set that goes, ${parallel ? 'in parallel' : 'in order'}, ${why}`, () => {
      const facts = factsOf({ ...situationOf(situation), parallel, leaving: true });
      const todo = plan(facts);
      assert.deepEqual([actionsOf(todo), waitOf(todo), todo.truncate, todo.refused], ['', '', [], []]);
      assert.equal(numbersOf(statusOf(facts, todo, 0)), is);
    });

const truncations = table('situation | goes | why')(`
  historyLimit=2 revisions=a,b,c,old,new    | web-a       | one too many, the oldest
  historyLimit=-1 revisions=a,b,old,new     |             | below 0 all stay
  0@a historyLimit=0 revisions=a,b,old,new  | web-b       | what a pod is of stays
  7@b historyLimit=0 revisions=a,b,old,new  | web-a       | what a pod without a place is of stays
`);
for (const { situation, goes, why } of truncations)
  test(`old revisions: ${why}`, () =>
    assert.equal(
      planned(situationOf(situation))
        .truncate.map(({ metadata }) => metadata.name)
        .join(' '),
      goes,
    ));

const wakes = table('situation | in | why')(`
  0@new=10 minReady=30                                 | 20s     | one needs time
  0@new=10 1@new=5 2@new=40 minReady=30                | 20s 25s | several need time
  0@new=-99999999 minReady=30                          | 30s     | one became ready years from now, as a clock says that may be put right
  0@new=10 replicas=0 minReady=30                      | 20s     | one without a place needs time
  +progress-deadline=1m                                | 60s     | a deadline begins
  0@old 1@old 2@old +progress-deadline=1m +paused=true |         | a rollout is paused
`);
for (const { situation, in: expected, why } of wakes)
  test(`when to look again: ${why}`, () =>
    assert.equal(
      planned(situationOf(situation))
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
const numbers: Readonly<Record<string, [string, number | undefined][]>> = {
  'generation=0': [['observedGeneration', 0]],
  'updated=3': [['updatedReplicas', 3]],
  'ready=3': [
    ['readyReplicas', 3],
    ['availableReplicas', 3],
  ],
};
/**
 * A set with a deadline of a minute that moved so many seconds ago, when it had other numbers than those of {@link since} where they are said; `stuck` has a new
 * pod that is not ready. Then both conditions, and what the second says.
 */
const conditions = table('situation | seen | progressing | stalled | why')(`
  stuck | 60 | False ProgressDeadlineExceeded | True NotReady: pod web-2: not ready | nothing has moved for too long
  stuck                             | -99999999 | True PodsUpdating     | False NotStalled | it moved years from now: the clock was set back
  0@old 1@old 2@new                 | 60 | True PodsUpdating     | False NotStalled | one became ready just now
  stuck                             | 60 generation=0 | True PodsUpdating     | False NotStalled | there is something new to do
  0@new 1@new 2@new                 | 60 | True RolloutComplete  | False NotStalled | all is done
  0@old 1@old 2@new update=OnDelete | 60 | True RolloutComplete  | False NotStalled | people delete, and have not
  0@new 1@new 2@new- replicas=2 | 60 updated=3 ready=3 | False ProgressDeadlineExceeded
    | True scaling-down: pod web-2: its ordinal is no longer part of the set; terminating, grace period ends at NOW
    | one has no place and does not go
  0@old 1@old 2@new +paused=true    | 60 | Unknown RolloutPaused | False NotStalled | it is paused
  0@old 1@old 2@new +paused=yes     | 60 ready=3 | False ProgressDeadlineExceeded | True paused      | an annotation cannot be read
`);
for (const { situation: text, seen, progressing, stalled, why } of conditions)
  test(`progress when ${why}`, () => {
    const [seconds, ...more] = seen.split(' ');
    const { annotations, ...situation } = situationOf(text.replace('stuck', stuck));
    const status = { ...since(Number(seconds)), ...Object.fromEntries(more.flatMap((word) => numbers[word] ?? [])) };
    const { conditions: all } = planned({ ...situation, status, annotations: { 'progress-deadline': '1m', ...annotations } });
    assert.deepEqual(all[0], { type: 'Mine', status: 'True' });
    const [is = '', stands = ''] = all.slice(1).map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
    assert.ok(is.startsWith(`Progressing ${progressing}: `), is);
    assert.ok(stands.startsWith(`Stalled ${stalled.replace('NOW', ago(0))}`), stands);
  });

test('nobody who sets no deadline gets conditions, and those that were there go', () => {
  assert.deepEqual(planned({ status: since(60), pods: stuck }).conditions, [{ type: 'Mine', status: 'True' }]);
});

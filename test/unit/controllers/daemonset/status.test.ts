import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { statusChange } from '../../../../controllers/daemonset/status.ts';
import { emptyStatus, numbersOf, planned } from './notation.ts';
import { situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';

/** Numbers are desired/current/ready/available/updated, and what is unavailable and misscheduled. */
const cases = table('nodes | pods | numbers | why')(`
  a b c! d~ e^ |                                               | 3/0/0/0/0 unavailable 3  | counts nodes that should run
  a b   | a@new b@new                                   | 2/2/2/2/2                | counts pods that run
  a b   | a@new                                         | 2/1/1/1/1 unavailable 1  | counts nodes with no pod as unavailable
  a b   | a@new b@new!                                  | 2/2/1/1/2 unavailable 1  | tells current from ready
  a b   | a@new=20 b@new=19 minReadySeconds=20          | 2/2/2/1/2 unavailable 1  | tells ready from available
  a b c | a@new b@old c@                                | 3/3/3/3/1                | tells new ones from old ones
  a     | a@new!?                                       | 1/1/0/0/1 unavailable 1  | counts those that are not scheduled as current
  a     | a@new-                                        | 1/1/1/1/1                | counts a terminating one as current
  a     | a@new#-                                       | 1/0/0/0/0 unavailable 1  | counts none that has failed and is going
  a     | a@new!/30 a@new/60                            | 1/1/1/1/1                | judges the older of two
  a     | a@old/60 a@new/30 maxUnavailable=0 maxSurge=1 | 1/1/1/1/0                | judges the old one during a surge
  a     | a@new a@new a@new                             | 1/1/1/1/1                | counts each node once
  a~ b  | a@new b@new                                   | 1/1/1/1/1 misscheduled 1 | counts one where a taint came later as misscheduled
  a~    | a@new#-                                       | 0/0/0/0/0                | counts none that is over and going as misscheduled
  a     | a@new b@new c@new?                            | 1/1/1/1/1                | knows nothing of nodes that are gone
`);
for (const { nodes, pods, numbers, why } of cases)
  test(`status ${why}`, () => assert.equal(numbersOf(planned({ nodes: nodes.replace('none', ''), ...situationOf(pods) }).status), numbers));

const written: DaemonSetStatus = {
  observedGeneration: 2,
  currentNumberScheduled: 1,
  desiredNumberScheduled: 1,
  numberAvailable: 1,
  numberMisscheduled: 0,
  numberReady: 1,
  updatedNumberScheduled: 1,
};
const running = { nodes: 'a', pods: 'a@new' };

test('status that is right is not written; zeros may be left out of it', () => {
  assert.equal(planned({ ...running, status: written }).status, undefined);
  assert.equal(planned({ ...running, status: { ...written, numberUnavailable: 0 } }).status, undefined);
});

test('status is written when one of its numbers is another', () => {
  for (const number of Object.keys(written) as (keyof DaemonSetStatus)[]) {
    const status = { ...written, [number]: number === 'observedGeneration' ? 1 : 7 };
    assert.notEqual(planned({ ...running, status }).status, undefined, number);
  }
  assert.notEqual(planned({ ...running, status: { ...written, numberUnavailable: 1 } }).status, undefined);
});

test('status has the generation that was acted on, and keeps what others count', () => {
  const { status } = planned({ nodes: 'a b', pods: 'a@new', status: { ...written, observedGeneration: 1, collisionCount: 4 } });
  assert.deepEqual(status, {
    observedGeneration: 2,
    currentNumberScheduled: 1,
    desiredNumberScheduled: 2,
    numberMisscheduled: 0,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 1,
    collisionCount: 4,
  });
});

test('conditions of others stay as they are', () => {
  const conditions = [{ type: 'Example', status: 'True' }];
  assert.equal(planned({ ...running, status: { ...written, conditions } }).status, undefined);
  assert.deepEqual(planned({ ...running, nodes: 'a b', status: { ...written, conditions } }).status?.conditions, conditions);
});

const changes: { why: string; has: DaemonSetStatus | undefined; wants: DaemonSetStatus; change: ReturnType<typeof statusChange> }[] = [
  { why: 'numbers where there is none yet, though all are zero', has: undefined, wants: emptyStatus, change: 'numbers' },
  { why: 'numbers where only these differ', has: { ...written, numberReady: 0 }, wants: written, change: 'numbers' },
  { why: 'more where the generation is newer', has: { ...written, observedGeneration: 1 }, wants: written, change: 'more' },
  { why: 'nothing where the generation is older', has: { ...written, observedGeneration: 3 }, wants: written, change: 'nothing' },
  { why: 'more where there is a new condition', has: written, wants: { ...written, conditions: [{ type: 'A', status: 'True' }] }, change: 'more' }, // prettier-ignore
  { why: 'more where a condition has gone', has: { ...written, conditions: [{ type: 'A', status: 'True' }] }, wants: written, change: 'more' }, // prettier-ignore
  { why: 'nothing where there are no conditions, said or not', has: { ...written, conditions: [] }, wants: written, change: 'nothing' },
];
for (const { why, has, wants, change } of changes)
  test(`writing the status would change ${why}`, () => assert.equal(statusChange(has, wants), change));

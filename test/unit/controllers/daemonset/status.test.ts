import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { statusChange } from '../../../../controllers/daemonset/status.ts';
import { numbersOf, planned, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  /** desired/current/ready/available/updated, and what is unavailable and misscheduled. */
  numbers: string;
}

const cases: Case[] = [
  { why: 'counts nodes that should run', nodes: 'a b c! d~ e^', numbers: '3/0/0/0/0 unavailable 3' },
  { why: 'counts pods that run', nodes: 'a b', pods: 'a@new b@new', numbers: '2/2/2/2/2' },
  { why: 'counts nodes with no pod as unavailable', nodes: 'a b', pods: 'a@new', numbers: '2/1/1/1/1 unavailable 1' },
  { why: 'tells current from ready', nodes: 'a b', pods: 'a@new b@new!', numbers: '2/2/1/1/2 unavailable 1' },
  { why: 'tells ready from available', nodes: 'a b', pods: 'a@new=20 b@new=19', minReadySeconds: 20, numbers: '2/2/2/1/2 unavailable 1' },
  { why: 'tells new ones from old ones', nodes: 'a b c', pods: 'a@new b@old c@', numbers: '3/3/3/3/1' },
  { why: 'counts those that are not scheduled as current', nodes: 'a', pods: 'a@new!?', numbers: '1/1/0/0/1 unavailable 1' },
  { why: 'counts those that failed as current', nodes: 'a', pods: 'a@new#', numbers: '1/1/0/0/1 unavailable 1' },
  { why: 'counts a terminating one as current', nodes: 'a', pods: 'a@new-', numbers: '1/1/1/1/1' },
  { why: 'counts none that has failed and is going', nodes: 'a', pods: 'a@new#-', numbers: '1/0/0/0/0 unavailable 1' },
  { why: 'counts none that has succeeded and is going', nodes: 'a', pods: 'a@new$-', numbers: '1/0/0/0/0 unavailable 1' },
  { why: 'judges the older of two', nodes: 'a', pods: 'a@new!/30 a@new/60', numbers: '1/1/1/1/1' },
  { why: 'judges the older of two, though it is not ready', nodes: 'a', pods: 'a@new/30 a@new!/60', numbers: '1/1/0/0/1 unavailable 1' },
  { why: 'judges the one that has a node', nodes: 'a', pods: 'a@new!?/60 a@new/30', numbers: '1/1/1/1/1' },
  { why: 'judges the first by name of one second', nodes: 'a', pods: 'a@old! a@new', numbers: '1/1/1/1/1' },
  { why: 'judges the old one during a surge', nodes: 'a', pods: 'a@old/60 a@new/30', maxUnavailable: 0, maxSurge: 1, numbers: '1/1/1/1/0' },
  {
    why: 'judges an old one that is going during a surge',
    nodes: 'a',
    pods: 'a@old-/60 a@new!/30',
    maxUnavailable: 0,
    maxSurge: 1,
    numbers: '1/1/1/1/0',
  },
  { why: 'judges the next one where the first failed and is going', nodes: 'a', pods: 'a@old#-/60 a@new/30', numbers: '1/1/1/1/1' },
  { why: 'counts each node once', nodes: 'a', pods: 'a@new a@new a@new', numbers: '1/1/1/1/1' },
  { why: 'counts one where a taint came later as misscheduled', nodes: 'a~ b', pods: 'a@new b@new', numbers: '1/1/1/1/1 misscheduled 1' },
  { why: 'counts one where a taint evicts as misscheduled', nodes: 'a! b', pods: 'a@new b@new', numbers: '1/1/1/1/1 misscheduled 1' },
  { why: 'counts a terminating one as misscheduled', nodes: 'a! b', pods: 'a@new- b@new', numbers: '1/1/1/1/1 misscheduled 1' },
  { why: 'counts a misscheduled node once', nodes: 'a~', pods: 'a@new! a@old', numbers: '0/0/0/0/0 misscheduled 1' },
  { why: 'counts none that is over and going as misscheduled', nodes: 'a~', pods: 'a@new#-', numbers: '0/0/0/0/0' },
  { why: 'knows nothing of nodes that are gone', nodes: 'a', pods: 'a@new b@new c@new?', numbers: '1/1/1/1/1' },
  { why: 'knows nothing where there are no nodes', nodes: '', pods: 'a@new', numbers: '0/0/0/0/0' },
];
for (const { why, numbers, ...situation } of cases)
  test(`status ${why}`, () => assert.equal(numbersOf(planned(situation).status), numbers));

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

test('status of a generation that it has seen already is not taken back', () =>
  assert.equal(planned({ ...running, status: { ...written, observedGeneration: 3 } }).status, undefined));

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

const nothing: DaemonSetStatus = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };
const changes: { why: string; has: DaemonSetStatus | undefined; wants: DaemonSetStatus; change: ReturnType<typeof statusChange> }[] = [
  { why: 'nothing where all is equal', has: written, wants: written, change: 'nothing' },
  { why: 'numbers where there is none yet, though all are zero', has: undefined, wants: nothing, change: 'numbers' },
  { why: 'numbers where only these differ', has: { ...written, numberReady: 0 }, wants: written, change: 'numbers' },
  { why: 'more where the generation is newer', has: { ...written, observedGeneration: 1 }, wants: written, change: 'more' },
  { why: 'nothing where the generation is older', has: { ...written, observedGeneration: 3 }, wants: written, change: 'nothing' },
  {
    why: 'more where there is a new condition',
    has: written,
    wants: { ...written, conditions: [{ type: 'A', status: 'True' }] },
    change: 'more',
  },
  {
    why: 'more where a condition has gone',
    has: { ...written, conditions: [{ type: 'A', status: 'True' }] },
    wants: written,
    change: 'more',
  },
  { why: 'nothing where there are no conditions, said or not', has: { ...written, conditions: [] }, wants: written, change: 'nothing' },
];
for (const { why, has, wants, change } of changes)
  test(`writing the status would change ${why}`, () => assert.equal(statusChange(has, wants), change));

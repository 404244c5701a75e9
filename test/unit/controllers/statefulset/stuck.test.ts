import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, waitOf, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  does?: string;
  waits: string;
}

const frees = { 'forced-rollback': 'true' };
const cases: Case[] = [
  { why: 'a new one that is never ready is waited for', pods: '0@old 1@old 2@new!', waits: '2 NotReady' },
  { why: 'after a fix the broken one still stands in the way', pods: '0@older 1@older 2@old!', waits: '2 NotReady' },
  {
    why: 'in parallel the fix replaces it',
    parallel: true,
    pods: '0@older 1@older 2@old!',
    does: 'delete 2 (update)',
    waits: '2 NotReady',
  },
  { why: 'deleted by hand it comes back fixed', pods: '0@older 1@older', does: 'create 2@new', waits: '2 creating' },
  { why: 'one that fails is deleted', pods: '0@old 1@old 2@new#', does: 'delete 2 (ended)', waits: '2 Failed' },
  { why: 'one that fails after a fix is deleted', pods: '0@older 1@older 2@old#', does: 'delete 2 (ended)', waits: '2 Failed' },
  { why: 'one broken from the first is waited for', pods: '0@old!', waits: '0 NotReady' },
  {
    why: 'one broken from the first is replaced in parallel',
    parallel: true,
    replicas: 1,
    pods: '0@old!',
    does: 'delete 0 (update)',
    waits: '0 NotReady',
  },
  { why: 'one on a lost node keeps all waiting', pods: '0@old 1@old- 2@new', waits: '1 Terminating' },
  {
    why: 'one on a lost node keeps its own place waiting in parallel',
    parallel: true,
    pods: '1@old-',
    does: 'create 0@new, create 2@new',
    waits: '0 creating',
  },

  {
    why: 'forced, the broken one goes after a fix',
    annotations: frees,
    pods: '0@older 1@older 2@old!',
    does: 'delete 2 (forced)',
    waits: '2 NotReady',
  },
  {
    why: 'forced, one that is pending goes after a fix',
    annotations: frees,
    pods: '0@older 1@older 2@old?',
    does: 'delete 2 (forced)',
    waits: '2 NotReady',
  },
  {
    why: 'forced, one that is pending goes, and its claims need not be made first',
    annotations: frees,
    templates: ['data'],
    claims: 'data-0 data-1',
    pods: '0@older 1@older 2@old?',
    does: 'delete 2 (forced)',
    waits: '2 NotReady',
  },
  { why: 'forced, one broken from the first goes', annotations: frees, pods: '0@old!', does: 'delete 0 (forced)', waits: '0 NotReady' },
  { why: 'forced, a broken one of the wanted revision stays', annotations: frees, pods: '0@old 1@old 2@new!', waits: '2 NotReady' },
  { why: 'forced, one that goes is not deleted again', annotations: frees, pods: '0@old 1@old 2@old!-', waits: '2 Terminating' },
  {
    why: 'forced, the lowest that blocks goes first',
    annotations: frees,
    pods: '0@older 1@old! 2@old!',
    does: 'delete 1 (forced)',
    waits: '1 NotReady',
  },
  {
    why: 'forced, one below the partition stays: it would come back as it is',
    annotations: frees,
    update: { partition: 1 },
    pods: '0@old! 1@new 2@new',
    waits: '0 NotReady',
  },
  {
    why: 'forced, one at the partition goes',
    annotations: frees,
    update: { partition: 1 },
    pods: '0@older 1@old! 2@new',
    does: 'delete 1 (forced)',
    waits: '1 NotReady',
  },
  {
    why: 'forced, one that is ready and needs only time stays',
    annotations: frees,
    minReady: 9,
    pods: '0@old=5',
    waits: '0 MinReadySeconds',
  },
  {
    why: 'forced, without the block: one that would come back as it is stays',
    annotations: frees,
    update: 'nil',
    status: { currentReplicas: 2 },
    pods: '0@old! 1@old 2@new',
    waits: '0 NotReady',
  },
  {
    why: 'forced, without the block: one that would come back new goes',
    annotations: frees,
    update: 'nil',
    status: { currentReplicas: 2 },
    pods: '0@old 1@old! 2@new',
    does: 'delete 1 (forced)',
    waits: '1 NotReady',
  },
  {
    why: 'forced, without the block: one of neither revision goes where new ones come',
    annotations: frees,
    update: 'nil',
    status: { currentReplicas: 1 },
    pods: '0@old 1@older! 2@new',
    does: 'delete 1 (forced)',
    waits: '1 NotReady',
  },
  {
    why: 'forced, without the block: one of neither revision stays where current ones come',
    annotations: frees,
    update: 'nil',
    status: { currentReplicas: 1 },
    pods: '0@older! 1@old 2@new',
    waits: '0 NotReady',
  },
  { why: 'forced, pods that people replace stay', annotations: frees, update: 'OnDelete', pods: '0@old!', waits: '0 NotReady' },
  { why: 'forced and paused, it stays', annotations: { ...frees, paused: 'true' }, pods: '0@old!', waits: '0 NotReady' },
  { why: 'forced and unreadable, it stays', annotations: { ...frees, paused: 'yes' }, pods: '0@old!', waits: '0 NotReady' },
  { why: 'said not to force, it stays', annotations: { 'forced-rollback': 'false' }, pods: '0@old!', waits: '0 NotReady' },

  { why: 'paused, no old one is replaced', annotations: { paused: 'true' }, pods: '0@old 1@old 2@old', waits: '2 paused' },
  { why: 'paused in the middle', annotations: { paused: 'true' }, pods: '0@old 1@old 2@new', waits: '1 paused' },
  { why: 'paused in parallel', parallel: true, annotations: { paused: 'true' }, pods: '0@old! 1@old 2@new', waits: '0 NotReady' },
  {
    why: 'paused, several at once',
    annotations: { paused: 'true' },
    update: { maxUnavailable: 2 },
    pods: '0@old 1@old 2@old',
    waits: '2 paused',
  },
  { why: 'paused, all anew', annotations: { paused: 'true' }, update: 'Recreate', pods: '0@old 1@old 2@old', waits: '' },
  { why: 'paused, a missing one is made', annotations: { paused: 'true' }, pods: '0@old 1@old', does: 'create 2@new', waits: '2 creating' },
  { why: 'paused, a failed one is deleted', annotations: { paused: 'true' }, pods: '0@old#', does: 'delete 0 (ended)', waits: '0 Failed' },
  {
    why: 'paused, scaling goes on',
    annotations: { paused: 'true' },
    replicas: 1,
    pods: '0@old 1@old',
    does: 'delete 1 (scaled-down)',
    waits: '1 scaling-down',
  },
  { why: 'paused, nothing is to be replaced', annotations: { paused: 'true' }, pods: '0@new 1@new 2@new', waits: '' },
  { why: 'no longer paused', annotations: { paused: 'false' }, pods: '0@old 1@old 2@old', does: 'delete 2 (update)', waits: '2 updating' },

  { why: 'unreadable, no old one is replaced', annotations: { 'max-unavailable': 'x' }, pods: '0@old 1@old 2@old', waits: '2 paused' },
  {
    why: 'unreadable, nothing is scaled down',
    annotations: { 'reserve-ordinals': 'x' },
    replicas: 1,
    pods: '0@new 1@new',
    waits: '1 scaling-down',
  },
  {
    why: 'unreadable, nothing is scaled down in parallel',
    parallel: true,
    annotations: { 'reserve-ordinals': 'x' },
    replicas: 1,
    pods: '0@old 1@old',
    waits: '1 scaling-down',
  },
  { why: 'unreadable, not all anew', annotations: { paused: 'x' }, update: 'Recreate', pods: '0@old 1@old 2@old', waits: '' },
  {
    why: 'unreadable, a missing one is made',
    annotations: { paused: 'x' },
    pods: '0@old 1@old',
    does: 'create 2@new',
    waits: '2 creating',
  },
  { why: 'unreadable, a failed one is deleted', annotations: { paused: 'x' }, pods: '0@new#', does: 'delete 0 (ended)', waits: '0 Failed' },
];

for (const { why, does = '', waits, ...situation } of cases)
  test(`a rollout that is stuck or held: ${why}`, () => {
    const plan = planned(situation);
    assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
  });

test('who looks reads why nothing is replaced', () => {
  assert.equal(
    planned({ annotations: { paused: 'true' }, pods: '0@old 1@old 2@old' }).waits?.detail,
    'of an old revision; dkc.dev/paused stops updates',
  );
  assert.match(planned({ annotations: { paused: 'x' }, pods: '0@old 1@old 2@old' }).waits?.detail ?? '', /invalid annotation: .*paused/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, waitOf, type Situation } from './notation.ts';

const cases: (Situation & { why: string; does?: string; waits: string })[] = [
  { why: 'makes all at once', does: 'create 0@new, create 1@new, create 2@new', waits: '0 creating' },
  { why: 'makes what is missing', pods: '1@new', does: 'create 0@new, create 2@new', waits: '0 creating' },
  { why: 'does not wait for one that is not ready', pods: '0@new! 1@new', does: 'create 2@new', waits: '0 NotReady' },
  { why: 'does not wait for one that is going', pods: '0@new- 1@new', does: 'create 2@new', waits: '0 Terminating' },
  { why: 'does not wait for one that is pending', pods: '0@new? 1@new', does: 'create 2@new', waits: '0 NotReady' },
  {
    why: 'does not wait until one is ready for long enough',
    minReady: 9,
    pods: '0@new=5 1@new',
    does: 'create 2@new',
    waits: '0 MinReadySeconds',
  },
  {
    why: 'deletes all that have ended',
    pods: '0@new# 1@new$',
    does: 'delete 0 (ended), delete 1 (ended), create 2@new',
    waits: '0 Failed',
  },
  { why: 'waits for an ended one to be gone', pods: '0@new#- 1@new$- 2@new', waits: '0 Terminating' },
  {
    why: 'leaves a place whose claim is about to go',
    templates: ['data'],
    whenScaled: 'Delete',
    claims: 'data-0 data-1^ data-2',
    pods: '0@new',
    does: 'create 2@new',
    waits: '1 stale-claim',
  },
  {
    why: 'makes all others when a claim is being deleted',
    templates: ['data'],
    claims: 'data-0- data-1 data-2-',
    pods: '2@new?',
    does: 'create 1@new; create 0@new (data-web-0 is going), storage 2 (data-web-2 is going)',
    waits: '0 creating',
  },
  {
    why: 'makes the missing claims of pending ones',
    templates: ['data'],
    pods: '0@new? 1@new? 2@new?',
    claims: 'data-1',
    does: 'storage 0 +data-web-0, storage 2 +data-web-2',
    waits: '0 NotReady',
  },
  { why: 'repairs what is wrong, ready or not', pods: '0@new~ 1@new~! 2@new', does: 'repair 0, repair 1', waits: '1 NotReady' },
  { why: 'leaves what is going as it is', pods: '0@new~- 1@new 2@new', waits: '0 Terminating' },
  {
    why: 'deletes all that there is no place for, well or not',
    replicas: 1,
    pods: '0@new 1@new! 2@new 3@new- 4@new#',
    does: 'delete 4 (scaled-down), delete 2 (scaled-down), delete 1 (scaled-down)',
    waits: '4 scaling-down',
  },
  {
    why: 'scales down though a place is not well',
    replicas: 1,
    pods: '0@new! 1@new',
    does: 'delete 1 (scaled-down)',
    waits: '0 NotReady',
  },
  {
    why: 'names the owners of claims first',
    replicas: 1,
    templates: ['data'],
    claims: 'data-0 data-1 data-2',
    whenScaled: 'Delete',
    pods: '0@new 1@new 2@new',
    does: 'owners 2, owners 1; delete 2 (scaled-down), delete 1 (scaled-down)',
    waits: '2 scaling-down',
  },
  {
    why: 'scales and updates in one look',
    replicas: 2,
    pods: '0@old 1@old 2@old',
    does: 'delete 2 (scaled-down); delete 1 (update)',
    waits: '2 scaling-down',
  },
  { why: 'makes new ones and updates in one look', pods: '0@old 1@new', does: 'create 2@new', waits: '2 creating' },
  { why: 'has nothing to do', pods: '0@new 1@new 2@new', waits: '' },
];

for (const { why, does = '', waits, ...situation } of cases)
  test(`in parallel, a set ${why}`, () => {
    const plan = planned({ ...situation, parallel: true });
    assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
  });

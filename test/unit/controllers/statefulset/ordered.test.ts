import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, waitOf, type Situation } from './notation.ts';

/** `does` nothing unless it is said. */
interface Case extends Situation {
  why: string;
  does?: string;
  waits: string;
}

const places: Case[] = [
  { why: 'deletes one that failed', pods: '0@new 1@new# 2@new', does: 'delete 1 (ended)', waits: '1 Failed' },
  { why: 'deletes one that succeeded', pods: '0@new 1@new$ 2@new', does: 'delete 1 (ended)', waits: '1 NotReady' },
  { why: 'waits for a failed one to be gone', pods: '0@new 1@new#- 2@new', waits: '1 Terminating' },
  { why: 'waits for a succeeded one to be gone', pods: '0@new 1@new$-', waits: '1 Terminating' },
  { why: 'makes nothing beside a failed one', pods: '0@new#', does: 'delete 0 (ended)', waits: '0 Failed' },
  { why: 'does not look beyond one that is not ready', pods: '0@new! 1@new#', waits: '0 NotReady' },

  { why: 'makes the first', does: 'create 0@new', waits: '0 creating' },
  { why: 'makes the second when the first is available', pods: '0@new', does: 'create 1@new', waits: '1 creating' },
  { why: 'makes the last', pods: '0@new 1@new', does: 'create 2@new', waits: '2 creating' },
  { why: 'fills a hole before it goes on', replicas: 5, pods: '0@new 2@new 4@new', does: 'create 1@new', waits: '1 creating' },
  { why: 'makes the claims first', templates: ['data', 'log'], claims: 'log-0', does: 'create 0@new +data-web-0', waits: '0 creating' },
  { why: 'takes claims that are there', templates: ['data'], claims: 'data-0', does: 'create 0@new', waits: '0 creating' },
  {
    why: 'says which claim has to go first',
    templates: ['data'],
    claims: 'data-0-',
    does: 'create 0@new (data-web-0 is going)',
    waits: '0 creating',
  },
  {
    why: 'makes nothing before a claim has gone with the pod before',
    templates: ['data'],
    whenScaled: 'Delete',
    pods: '0@new',
    claims: 'data-0 data-1^',
    waits: '1 stale-claim',
  },
  {
    why: 'takes a claim of the pod before where claims stay',
    templates: ['data'],
    pods: '0@new',
    claims: 'data-0 data-1^',
    does: 'create 1@new',
    waits: '1 creating',
  },

  { why: 'waits for a pending one', pods: '0@new?', waits: '0 NotReady' },
  {
    why: 'makes the missing claims of a pending one',
    templates: ['data', 'log'],
    claims: 'data-0',
    pods: '0@new?',
    does: 'storage 0 +log-web-0',
    waits: '0 NotReady',
  },
  {
    why: 'makes the missing claims of a pending one that goes',
    templates: ['data'],
    pods: '0@new?-',
    does: 'storage 0 +data-web-0',
    waits: '0 Terminating',
  },
  {
    why: 'puts the owners of the claims of a pending one right',
    templates: ['data'],
    claims: 'data-0',
    whenDeleted: 'Delete',
    pods: '0@new?',
    does: 'owners 0',
    waits: '0 NotReady',
  },
  { why: 'makes no claims of one that runs', templates: ['data'], pods: '0@new!', waits: '0 NotReady' },

  { why: 'never replaces one that is going', pods: '0@new-', waits: '0 Terminating' },
  { why: 'waits for one that is going, whatever is above', pods: '0@new 1@new- 2@new#', waits: '1 Terminating' },
  { why: 'waits for one that is not ready', pods: '0@new 1@new!', waits: '1 NotReady' },
  { why: 'waits for one that says it is ready and does not run', pods: '0@new?+', waits: '0 MinReadySeconds' },
  { why: 'waits for an old one that is not ready', pods: '0@new 1@old! 2@new', waits: '1 NotReady' },
  { why: 'waits until one is ready for long enough', minReady: 10, pods: '0@new=9', waits: '0 MinReadySeconds' },
  { why: 'goes on when it is', minReady: 10, pods: '0@new=10', does: 'create 1@new', waits: '1 creating' },

  { why: 'puts a label right and goes on', pods: '0@new~', does: 'repair 0; create 1@new', waits: '1 creating' },
  { why: 'repairs all', pods: '0@new~ 1@new~ 2@new', does: 'repair 0; repair 1', waits: '' },
  {
    why: 'repairs volumes and goes on',
    templates: ['data'],
    claims: 'data-0 data-1',
    pods: '0@new*',
    does: 'repair 0; create 1@new',
    waits: '1 creating',
  },
  {
    why: 'makes the claims that a repair needs',
    templates: ['data'],
    claims: 'data-1',
    pods: '0@new*',
    does: 'storage 0 +data-web-0, repair 0; create 1@new',
    waits: '1 creating',
  },
  {
    why: 'puts owners of claims right and goes on',
    templates: ['data'],
    claims: 'data-0 data-1',
    whenDeleted: 'Delete',
    pods: '0@new',
    does: 'owners 0; create 1@new',
    waits: '1 creating',
  },
  { why: 'does not repair one that is not ready', pods: '0@new~!', waits: '0 NotReady' },
  { why: 'has nothing to do', pods: '0@new 1@new 2@new', waits: '' },
  { why: 'leaves none', replicas: 0, waits: '' },
];

const leaving: Case[] = [
  { why: 'begins with the highest', replicas: 1, pods: '0@new 1@new 2@new', does: 'delete 2 (scaled-down)', waits: '2 scaling-down' },
  { why: 'goes by numbers', replicas: 1, pods: '0@new 9@new 10@new', does: 'delete 10 (scaled-down)', waits: '10 scaling-down' },
  { why: 'waits until it is gone', replicas: 1, pods: '0@new 1@new 2@new-', waits: '2 scaling-down' },
  { why: 'takes the next then', replicas: 1, pods: '0@new 1@new', does: 'delete 1 (scaled-down)', waits: '1 scaling-down' },
  { why: 'takes the first too', replicas: 0, pods: '0@new', does: 'delete 0 (scaled-down)', waits: '0 scaling-down' },
  { why: 'waits while a lower one is not well and it is not either', replicas: 1, pods: '0@new 1@new! 2@new!', waits: '2 scaling-down' },
  {
    why: 'takes a well one though a lower one is not',
    replicas: 1,
    pods: '0@new 1@new! 2@new',
    does: 'delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
  {
    why: 'takes one that is not ready when all others are',
    replicas: 1,
    pods: '0@new 1@new 2@new!',
    does: 'delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
  { why: 'waits for one that says it is ready and does not run', replicas: 1, pods: '0@new 1@new?+', waits: '1 scaling-down' },
  { why: 'takes a pending one', replicas: 1, pods: '0@new 1@new?', does: 'delete 1 (scaled-down)', waits: '1 scaling-down' },
  {
    why: 'takes a failed one while another failed one is below it',
    replicas: 0,
    pods: '1@new# 2@new#',
    does: 'delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
  { why: 'takes a failed one', replicas: 1, pods: '0@new 1@new#', does: 'delete 1 (scaled-down)', waits: '1 scaling-down' },
  { why: 'deletes none of three that are not ready', replicas: 0, pods: '0@new! 1@new! 2@new!', waits: '2 scaling-down' },
  {
    why: 'waits while two are not ready for long enough',
    replicas: 1,
    minReady: 10,
    pods: '0@new 1@new=5 2@new=5',
    waits: '2 scaling-down',
  },
  {
    why: 'takes the only one that is not ready for long enough',
    replicas: 1,
    minReady: 10,
    pods: '0@new 1@new 2@new=5',
    does: 'delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
  { why: 'waits for the places first', replicas: 1, pods: '0@new! 1@new 2@new', waits: '0 NotReady' },
  { why: 'fills the places first', replicas: 2, pods: '0@new 2@new', does: 'create 1@new', waits: '1 creating' },
  { why: 'comes before any update', replicas: 1, pods: '0@old 1@old', does: 'delete 1 (scaled-down)', waits: '1 scaling-down' },
  {
    why: 'takes those below the first, the higher one first',
    start: 2,
    replicas: 1,
    pods: '0@new 1@new 2@new',
    does: 'delete 1 (scaled-down)',
    waits: '1 scaling-down',
  },
  {
    why: 'takes those above the end before those below the first',
    start: 1,
    replicas: 1,
    pods: '0@new 1@new 2@new',
    does: 'delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
  {
    why: 'takes one whose place is reserved now',
    annotations: { 'reserve-ordinals': '1' },
    pods: '0@new 1@new 2@new 3@new',
    does: 'delete 1 (scaled-down)',
    waits: '1 scaling-down',
  },
  {
    why: 'names the owners of the claims of all before it deletes one',
    replicas: 1,
    templates: ['data'],
    claims: 'data-0 data-1 data-2',
    whenScaled: 'Delete',
    pods: '0@new 1@new 2@new',
    does: 'owners 2, owners 1; delete 2 (scaled-down)',
    waits: '2 scaling-down',
  },
];

for (const { why, does = '', waits, ...situation } of places)
  test(`in order, a place ${why}`, () => {
    const plan = planned({ current: 'new', ...situation });
    assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
  });

for (const { why, does = '', waits, ...situation } of leaving)
  test(`in order, scaling down ${why}`, () => {
    const plan = planned({ current: 'new', ...situation });
    assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
  });

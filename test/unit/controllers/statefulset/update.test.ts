import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, waitOf, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  does?: string;
  waits: string;
}

/** Both policies come to the same. */
const oneByOne: Case[] = [
  { why: 'starts at the highest', pods: '0@old 1@old 2@old', does: 'delete 2 (update)', waits: '2 updating' },
  { why: 'waits for the one above', pods: '0@old 1@old 2@new-', waits: '2 Terminating' },
  { why: 'goes on below new ones', pods: '0@old 1@old 2@new', does: 'delete 1 (update)', waits: '1 updating' },
  { why: 'ends with the first', pods: '0@old 1@new 2@new', does: 'delete 0 (update)', waits: '0 updating' },
  { why: 'is over', pods: '0@new 1@new 2@new', waits: '' },
  { why: 'replaces what says no revision', pods: '0@ 1@new 2@new', does: 'delete 0 (update)', waits: '0 updating' },
  { why: 'replaces all that is not new', pods: '0@old 1@older 2@old', does: 'delete 2 (update)', waits: '2 updating' },
  { why: 'does not delete one that goes again', pods: '0@old 1@old 2@old-', waits: '2 Terminating' },
  { why: 'waits for a new one that is not ready', pods: '0@old 1@old 2@new!', waits: '2 NotReady' },
  { why: 'waits until a new one is ready for long enough', minReady: 9, pods: '0@old 1@old 2@new=8', waits: '2 MinReadySeconds' },
  { why: 'goes on when it is', minReady: 9, pods: '0@old 1@old 2@new=9', does: 'delete 1 (update)', waits: '1 updating' },
  { why: 'stops at the partition', update: { partition: 2 }, pods: '0@old 1@old 2@new', waits: '' },
  {
    why: 'goes down to the partition',
    update: { partition: 1 },
    pods: '0@old 1@old 2@new',
    does: 'delete 1 (update)',
    waits: '1 updating',
  },
  { why: 'stops at a partition of all', update: { partition: 3 }, pods: '0@old 1@old 2@old', waits: '' },
  { why: 'stops at a partition beyond all', update: { partition: 9 }, pods: '0@old 1@old 2@old', waits: '' },
  {
    why: 'counts the partition in places',
    start: 5,
    update: { partition: 1 },
    pods: '5@old 6@old 7@new',
    does: 'delete 6 (update)',
    waits: '6 updating',
  },
  {
    why: 'keeps the place below the partition, wherever it starts',
    start: 5,
    update: { partition: 1 },
    pods: '5@old 6@new 7@new',
    waits: '',
  },
  {
    why: 'counts no reserved place',
    annotations: { 'reserve-ordinals': '1' },
    update: { partition: 1 },
    pods: '0@old 2@old 3@new',
    does: 'delete 2 (update)',
    waits: '2 updating',
  },
  { why: 'goes all the way without its block', update: 'nil', pods: '0@old 1@new 2@new', does: 'delete 0 (update)', waits: '0 updating' },
  { why: 'is the user’s own', update: 'OnDelete', pods: '0@old 1@old 2@older', waits: '' },
];

for (const parallel of [false, true])
  for (const { why, does = '', waits, ...situation } of oneByOne)
    test(`an update, ${parallel ? 'in parallel' : 'in order'}: ${why}`, () => {
      const plan = planned({ ...situation, parallel });
      assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
    });

const inParallel: Case[] = [
  { why: 'replaces an old one that is not ready', pods: '0@old 1@old 2@old!', does: 'delete 2 (update)', waits: '2 NotReady' },
  { why: 'replaces an old one that is pending', pods: '0@old 1@old 2@old?', does: 'delete 2 (update)', waits: '2 NotReady' },
  { why: 'waits above one that is not ready', pods: '0@old! 1@old 2@new!', waits: '0 NotReady' },
  { why: 'passes new ones above the one that is stuck', pods: '0@new 1@old! 2@new', does: 'delete 1 (update)', waits: '1 NotReady' },
  { why: 'deletes an old one that has failed once', pods: '0@old 1@old 2@old#', does: 'delete 2 (ended)', waits: '2 Failed' },
  { why: 'waits for one that is made in the same look', pods: '0@old 1@old', does: 'create 2@new', waits: '2 creating' },
  { why: 'leaves what is broken below the partition', update: { partition: 1 }, pods: '0@old! 1@new 2@new', waits: '0 NotReady' },
  {
    why: 'does not mind what is broken below the partition',
    update: { partition: 1 },
    pods: '0@old! 1@old 2@new',
    does: 'delete 1 (update)',
    waits: '0 NotReady',
  },
];

for (const { why, does = '', waits, ...situation } of inParallel)
  test(`an update, in parallel alone: ${why}`, () => {
    const plan = planned({ ...situation, parallel: true });
    assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
  });

const some = '0@old 1@old 2@old 3@old 4@old';
const several: (Omit<Case, 'does'> & { may: number | string; inOrder?: string; inParallel?: string; does?: string })[] = [
  { why: 'two', may: 2, pods: some, does: 'delete 4 (update), delete 3 (update)', waits: '4 updating' },
  { why: '40% of five', may: '40%', pods: some, does: 'delete 4 (update), delete 3 (update)', waits: '4 updating' },
  { why: '59% of five, rounded down', may: '59%', pods: some, does: 'delete 4 (update), delete 3 (update)', waits: '4 updating' },
  { why: '19% of five, one at least', may: '19%', pods: some, does: 'delete 4 (update)', waits: '4 updating' },
  { why: 'none, one at least', may: 0, pods: some, does: 'delete 4 (update)', waits: '4 updating' },
  { why: 'one', may: 1, pods: some, does: 'delete 4 (update)', waits: '4 updating' },
  {
    why: 'as many as there are left',
    may: 4,
    pods: '0@old 1@new 2@old 3@new 4@new',
    does: 'delete 2 (update), delete 0 (update)',
    waits: '2 updating',
  },
  { why: 'nothing when all are new', may: 3, pods: '0@new 1@new 2@new 3@new 4@new', waits: '' },
  {
    why: 'down to the partition',
    may: 4,
    update: { partition: 3 },
    pods: some,
    does: 'delete 4 (update), delete 3 (update)',
    waits: '4 updating',
  },
  {
    why: 'what is down counts, in parallel; in order it is waited for',
    may: 2,
    pods: '0@old 1@old 2@old 3@old 4@new!',
    inParallel: 'delete 3 (update)',
    waits: '4 NotReady',
  },
  { why: 'what is going counts', may: 2, pods: '0@old 1@old 2@old 3@old 4@old-', inParallel: 'delete 3 (update)', waits: '4 Terminating' },
  {
    why: 'a place without a pod counts',
    may: 2,
    pods: '0@old 1@old 2@old 3@old',
    inOrder: 'create 4@new',
    inParallel: 'create 4@new; delete 3 (update)',
    waits: '4 creating',
  },
  {
    why: 'what is down below the partition counts',
    may: 2,
    update: { partition: 1 },
    pods: '0@old! 1@old 2@old 3@old 4@old',
    inParallel: 'delete 4 (update)',
    waits: '0 NotReady',
  },
  { why: 'the limit is reached', may: 2, pods: '0@old 1@old 2@old 3@new! 4@new!', waits: '3 NotReady' },
  { why: 'the limit is passed', may: 1, pods: '0@old 1@old 2@old 3@new! 4@new!', waits: '3 NotReady' },
  {
    why: 'old ones that are down go whatever the limit',
    may: 1,
    pods: '0@old! 1@old 2@old! 3@old! 4@new!',
    inParallel: 'delete 3 (update), delete 2 (update), delete 0 (update)',
    waits: '0 NotReady',
  },
  {
    why: 'old ones that are down count too',
    may: 2,
    pods: '0@old 1@old! 2@old 3@old 4@old',
    inParallel: 'delete 1 (update), delete 4 (update)',
    waits: '1 NotReady',
  },
  {
    why: 'not ready for long enough is down',
    may: 2,
    minReady: 9,
    pods: '0@old 1@old 2@old 3@old 4@new=5',
    inParallel: 'delete 3 (update)',
    waits: '4 MinReadySeconds',
  },
  {
    why: 'one that failed counts, and is deleted once',
    may: 2,
    pods: '0@old 1@old 2@old 3@old 4@old#',
    inOrder: 'delete 4 (ended)',
    inParallel: 'delete 4 (ended); delete 3 (update)',
    waits: '4 Failed',
  },
];

for (const { why, may, does = '', inOrder, inParallel, waits, ...situation } of several)
  for (const [parallel, done] of [
    [false, inOrder ?? (inParallel === undefined ? does : '')],
    [true, inParallel ?? does],
  ] as const) {
    const partition = typeof situation.update === 'object' ? situation.update : {};
    const asked = { ...situation, parallel, replicas: 5 };
    test(`several at once, ${parallel ? 'in parallel' : 'in order'}: ${why}`, () => {
      const plan = planned({ ...asked, update: { ...partition, maxUnavailable: may } });
      assert.deepEqual([actionsOf(plan), waitOf(plan)], [done, waits]);
    });
    if (may !== 0)
      test(`several at once by annotation, ${parallel ? 'in parallel' : 'in order'}: ${why}`, () => {
        const plan = planned({ ...asked, update: partition, annotations: { 'max-unavailable': String(may) } });
        assert.deepEqual([actionsOf(plan), waitOf(plan)], [done, waits]);
      });
  }

const anew: Case[] = [
  {
    why: 'all old ones go at once',
    pods: '0@old 1@old 2@old',
    does: 'delete 0 (recreate), delete 1 (recreate), delete 2 (recreate)',
    waits: '0 recreating',
  },
  {
    why: 'well or not',
    pods: '0@old! 1@old? 2@old#',
    does: 'delete 0 (recreate), delete 1 (recreate), delete 2 (recreate)',
    waits: '0 recreating',
  },
  { why: 'new ones stay', pods: '0@old 1@new 2@old', does: 'delete 0 (recreate), delete 2 (recreate)', waits: '0 recreating' },
  {
    why: 'those without a place go too',
    replicas: 1,
    pods: '0@old 1@old 2@new',
    does: 'delete 0 (recreate), delete 1 (recreate)',
    waits: '0 recreating',
  },
  { why: 'nothing is made before all are gone', pods: '1@old-', waits: '1 recreating' },
  { why: 'nothing is made before those without a place are gone', pods: '5@old-', waits: '5 recreating' },
  { why: 'what goes is not deleted again', pods: '0@old- 1@old', does: 'delete 1 (recreate)', waits: '0 recreating' },
  { why: 'new ones alone stay as they are', pods: '0@new 1@new 2@new', waits: '' },
];

for (const { why, does = '', waits, ...situation } of anew)
  for (const parallel of [false, true])
    test(`all anew, ${parallel ? 'in parallel' : 'in order'}: ${why}`, () => {
      const plan = planned({ ...situation, parallel, update: 'Recreate' });
      assert.deepEqual([actionsOf(plan), waitOf(plan)], [does, waits]);
    });

test('all anew: they come back in the order of their policy', () => {
  assert.equal(actionsOf(planned({ update: 'Recreate' })), 'create 0@new');
  assert.equal(actionsOf(planned({ update: 'Recreate', parallel: true })), 'create 0@new, create 1@new, create 2@new');
  assert.equal(actionsOf(planned({ update: 'Recreate', pods: '0@new' })), 'create 1@new');
});

test('all anew: names the owners of the claims of those without a place before they go', () => {
  const situation = { update: 'Recreate', replicas: 1, templates: ['data'], claims: 'data-0 data-1', whenScaled: 'Delete' } as const;
  const plan = planned({ ...situation, templates: ['data'], pods: '0@old 1@old' });
  assert.equal(actionsOf(plan), 'owners 1; delete 0 (recreate), delete 1 (recreate)');
});

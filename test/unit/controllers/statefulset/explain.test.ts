import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../../../../controllers/statefulset/explain.ts';
import { factsOf, type Situation } from './notation.ts';

/** `says` each pod with its reason, the one that is waited for first. */
const cases: (Situation & { why: string; says: string })[] = [
  { why: 'all is well', pods: '0@new 1@new 2@new', says: 'web-0 runs, web-1 runs, web-2 runs' },
  { why: 'nothing is there yet', says: 'web-0 creating, web-1 missing, web-2 missing' },
  { why: 'the second is not ready', pods: '0@new 1@new!', says: 'web-1 NotReady, web-0 runs, web-2 missing' },
  { why: 'the first is going', pods: '0@new- 1@new 2@new', says: 'web-0 Terminating, web-1 runs, web-2 runs' },
  { why: 'one failed', pods: '0@new 1@new 2@new#', says: 'web-2 Failed, web-0 runs, web-1 runs' },
  { why: 'one needs time', minReady: 60, pods: '0@new=5', replicas: 1, says: 'web-0 MinReadySeconds' },
  { why: 'an update begins', pods: '0@old 1@old 2@old', says: 'web-2 updating, web-0 old, web-1 old' },
  { why: 'an update waits', pods: '0@old 1@old 2@new!', says: 'web-2 NotReady, web-0 old, web-1 old' },
  { why: 'there is a partition', update: { partition: 2 }, pods: '0@old 1@old 2@new', says: 'web-0 kept, web-1 kept, web-2 runs' },
  { why: 'people delete', update: 'OnDelete', pods: '0@old 1@old 2@new', says: 'web-0 old, web-1 old, web-2 runs' },
  { why: 'it is paused', annotations: { paused: 'true' }, pods: '0@old 1@old 2@new', says: 'web-1 paused, web-0 old, web-2 runs' },
  { why: 'it scales down', replicas: 1, pods: '0@new 1@new 2@new', says: 'web-2 scaling-down, web-0 runs, web-1 leaving' },
  { why: 'all are recreated', update: 'Recreate', pods: '0@old 1@old- 2@new', says: 'web-0 recreating, web-1 Terminating, web-2 runs' },
  {
    why: 'a claim is in the way',
    templates: ['data'],
    whenScaled: 'Delete',
    claims: 'data-0^',
    says: 'web-0 stale-claim, web-1 missing, web-2 missing',
  },
  { why: 'the set goes', leaving: true, pods: '0@new 1@new! 2@new-', says: 'web-0 runs, web-1 NotReady, web-2 Terminating' },
];
for (const { why, says, ...situation } of cases)
  test(`what is said when ${why}`, () =>
    assert.equal(
      explain(factsOf(situation))
        .map(({ object, reason }) => `${object} ${reason}`)
        .join(', '),
      says,
    ));

test('two billion missing pods are 500 rows and one', () => {
  const rows = explain(factsOf({ replicas: 2 ** 31 - 1, pods: '0@new' }));
  assert.equal(rows.length, 502);
  assert.deepEqual(rows.at(-1), {
    object: 'web',
    reason: 'missing',
    detail: '999499 more of 1000000, up to web-999999: they are created after lower ordinals',
  });
});

const details: (Situation & { why: string; detail: string })[] = [
  { why: 'is made next', detail: 'it is about to be created' },
  { why: 'is not ready', pods: '0@new!', detail: 'not ready' },
  { why: 'is going', pods: '0@new-', detail: 'terminating, grace period ends at 2026-03-01T12:00:00Z' },
  { why: 'is replaced next', pods: '0@new 1@new 2@old', detail: 'it is of an old revision and is about to be replaced' },
  { why: 'leaves, and is not ready', replicas: 0, pods: '0@new! 1@new!', detail: 'its ordinal is no longer part of the set; not ready' },
  {
    why: 'leaves, and has gone half',
    replicas: 0,
    pods: '0@new-',
    detail: 'its ordinal is no longer part of the set; terminating, grace period ends at 2026-03-01T12:00:00Z',
  },
];
for (const { why, detail, ...situation } of details)
  test(`what is said of a pod that ${why}`, () => assert.equal(explain(factsOf(situation))[0]?.detail, detail));

test('what is said of old pods', () => {
  const said = (situation: Situation): string | undefined => explain(factsOf(situation)).find(({ object }) => object === 'web-0')?.detail;
  const pods = '0@old 1@old 2@new';
  assert.equal(said({ pods }), 'available, of an old revision: higher ordinals are replaced first');
  assert.equal(
    said({ pods, update: 'OnDelete' }),
    'available, of an old revision: with OnDelete it is replaced only once someone deletes it',
  );
  assert.equal(said({ pods, update: { partition: 1 } }), 'available, of an old revision: its ordinal is below the partition');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, ago, planned, waitOf, type Situation } from './notation.ts';
import { table } from '../../../support/table.ts';
import { rows, situationOf, testRows } from './rows.ts';

/** Both policies come to the same. */
const oneByOne = rows(`
  0@old 1@old 2@old                     | delete 2 (update) | 2 updating        | starts at the highest
  0@old 1@old 2@new-                    |                   | 2 Terminating     | waits for the one above
  0@new 1@new 2@new                     |                   |                   | is over
  0@old 1@old 2@new=9 minReady=9        | delete 1 (update) | 1 updating        | goes on when it is
  0@old 1@old 2@new partition=1         | delete 1 (update) | 1 updating        | goes down to the partition
  5@old 6@old 7@new start=5 partition=1 | delete 6 (update) | 6 updating        | counts the partition in places
  0@old 1@new 2@new update=nil          | delete 0 (update) | 0 updating        | goes all the way without its block
  0@old 1@old 2@older update=OnDelete   |                   |                   | is the user’s own
`);

for (const parallel of [false, true]) testRows(`an update, ${parallel ? 'in parallel' : 'in order'}:`, oneByOne, { parallel });

const inParallel = rows(`
  0@old 1@old 2@old!             | delete 2 (update) | 2 NotReady | replaces an old one that is not ready
  0@old! 1@old 2@new!            |                   | 0 NotReady | waits above one that is not ready
  0@old! 1@old 2@new partition=1 | delete 1 (update) | 0 NotReady | does not mind what is broken below the partition
`);

testRows('an update, in parallel alone:', inParallel, { parallel: true });

/**
 * Of five pods so many may be down, by the field and by the annotation. What is deleted is deleted for the update, where it says nothing else; `old` stands for
 * `0@old 1@old 2@old 3@old 4@old`, with a mark of the last.
 */
const several = table('may | situation | in order | in parallel | waits | why')(`
  2   | old                             | delete 4, delete 3 | delete 4, delete 3     | 4 updating    | two
  40% | old                             | delete 4, delete 3 | delete 4, delete 3     | 4 updating    | 40% of five
  0   | old                             | delete 4           | delete 4               | 4 updating    | none, one at least
  4   | old partition=3                 | delete 4, delete 3 | delete 4, delete 3     | 4 updating    | down to the partition
  2 | 0@old 1@old 2@old 3@old 4@new! | | delete 3 | 4 NotReady | what is down counts, in parallel; in order it is waited for
  2   | 0@old 1@old 2@old 3@old         | create 4@new       | create 4@new; delete 3 | 4 creating    | a place without a pod counts
  1   | 0@old 1@old 2@old 3@new! 4@new! |                    |                        | 3 NotReady    | the limit is passed
  1 | 0@old! 1@old 2@old! 3@old! 4@new! | | delete 3, delete 2, delete 0 | 0 NotReady | old ones that are down go whatever the limit
`);

for (const { may, situation: text, waits, why, ...does } of several)
  for (const how of ['in order', 'in parallel'] as const) {
    const { update, ...situation } = situationOf(text.replace(/^old/, '0@old 1@old 2@old 3@old 4@old'));
    const partition = typeof update === 'object' ? update : {};
    const maxUnavailable = may.endsWith('%') ? may : Number(may);
    const ways: [string, Situation][] = [
      ['', { update: { ...partition, maxUnavailable } }],
      // No annotation says none.
      ...(may === '0' ? [] : [[' by annotation', { update: partition, annotations: { 'max-unavailable': may } }] as [string, Situation]]),
    ];
    for (const [by, way] of ways)
      test(`several at once${by}, ${how}: ${why}`, () => {
        const plan = planned({ ...situation, ...way, parallel: how === 'in parallel', replicas: 5 });
        assert.deepEqual([actionsOf(plan).replaceAll(' (update)', ''), waitOf(plan)], [does[how], waits]);
      });
  }

/** What the gauges tell: how many may be unavailable, and how many are. */
const unavailability = table('situation | max | now')(`
  0@old 1@old 2@old                       | 1 | 0
  0@old! 1@old 2@new- partition=2         | 1 | 2
  0@old                                   | 1 | 2
  0@old 1@old 2@old+# maxUnavailable=2 | 2 | 0
  0@old 1@old 2@new=5 minReady=9 maxUnavailable=2 | 2 | 1
  0@old 1@old 2@old +max-unavailable=2    | 2 | 0
  0@old! 1@old 2@old update=OnDelete      | - | -
`);

for (const { situation, max, now } of unavailability)
  test(`unavailable replicas: ${situation}`, () => {
    const { unavailability: is } = planned(situationOf(situation));
    assert.deepEqual([String(is?.max ?? '-'), String(is?.now ?? '-')], [max, now]);
  });

const recreate = rows(`
  0@old 1@old 2@old    | delete 0 (recreate), delete 1 (recreate), delete 2 (recreate) | 0 recreating | all old ones go at once
  0@old 1@new 2@old    | delete 0 (recreate), delete 2 (recreate)                      | 0 recreating | new ones stay
  1@old-               |                                                               | 1 recreating | nothing is made before all are gone
  5@old- | | 5 recreating | nothing is made before those without a place are gone
`);

for (const parallel of [false, true])
  testRows(`Recreate, ${parallel ? 'in parallel' : 'in order'}:`, recreate, { parallel, update: 'Recreate' });

test('Recreate: they come back in the order of their policy', () => {
  assert.equal(actionsOf(planned({ update: 'Recreate' })), 'create 0@new');
  assert.equal(actionsOf(planned({ update: 'Recreate', parallel: true })), 'create 0@new, create 1@new, create 2@new');
  assert.equal(actionsOf(planned({ update: 'Recreate', pods: '0@new' })), 'create 1@new');
});

const progressing = (reason: string) => ({
  conditions: [{ type: 'Progressing', status: 'True', reason, message: '', lastTransitionTime: ago(60) }],
});
const news: (Situation & { why: string; says: string; event?: boolean })[] = [
  { why: 'pods of an old revision go', pods: '0@old 1@old', says: 'RecreateInProgress', event: true },
  { why: 'the template changes again', pods: '0@old 1@old', status: progressing('RecreateComplete'), says: 'RecreateInProgress', event: true }, // prettier-ignore
  { why: 'all are there', pods: '0@new 1@new! 2@new', status: progressing('RecreateInProgress'), says: 'RecreateComplete' },
  { why: 'the set has another strategy', update: {}, status: progressing('RecreateComplete'), says: '' },
  { why: 'the set has a deadline, whose conditions say more', annotations: { 'progress-deadline': '1m' }, says: 'PodsUpdating,NotStalled', event: true }, // prettier-ignore
];
for (const { why, says, event = false, ...situation } of news)
  test(`Recreate: Progressing and its event when ${why}`, () => {
    const { conditions, warnings } = planned({ update: 'Recreate', pods: '0@old', ...situation });
    assert.equal(conditions.map(({ reason }) => reason).join(), says);
    const reasons = warnings.flatMap(({ events }) => events.map(({ reason }) => reason));
    assert.deepEqual(reasons, event ? ['RecreateStarted'] : []);
    for (const { reason, lastTransitionTime } of situation.status?.conditions ?? [])
      if (says !== '') assert.equal(conditions[0]?.lastTransitionTime, lastTransitionTime, `True since ${reason}`);
  });

const stuck = rows(`
  0@old 1@old 2@new!              |                            | 2 NotReady    | a new one that is never ready is waited for
  0@older 1@older 2@old!          |                            | 2 NotReady    | after a fix the broken one still stands in the way
`);

const forced = rows(
  `
  0@older 1@older 2@old!                    | delete 2 (forced) | 2 NotReady        | forced, the broken one goes after a fix
  0@older 1@older 2@old? templates=data claims=data-0,data-1 | delete 2 (forced) | 2 NotReady
    | forced, one that is pending goes, and its claims need not be made first
  0@old 1@old 2@old!-                       |                   | 2 Terminating     | forced, one that goes is not deleted again
  0@old! 1@new 2@new partition=1 | | 0 NotReady | forced, one below the partition stays: it would come back as it is
  0@old! 1@old 2@new update=nil currentReplicas=2 | | 0 NotReady | forced, without the block: one that would come back as it is stays
  0@old 1@older! 2@new update=nil currentReplicas=1 | delete 1 (forced) | 1 NotReady
    | forced, without the block: one of neither revision goes where new ones come
  0@old! update=OnDelete                    |                   | 0 NotReady        | forced, pods that people replace stay
  0@old! +forced-rollback=true +paused=true |                   | 0 NotReady        | forced and paused, it stays
`,
  { annotations: { 'forced-rollback': 'true' } },
);

const paused = rows(
  `
  0@old 1@old 2@old                  |                        | 2 paused       | paused, no old one is replaced
  0@old 1@old 2@old update=Recreate  |                        |                | paused, Recreate
  0@old 1@old                        | create 2@new           | 2 creating     | paused, a missing one is made
  0@old 1@old replicas=1             | delete 1 (scaled-down) | 1 scaling-down | paused, scaling goes on
`,
  { annotations: { paused: 'true' } },
);

const unreadable = rows(`
  0@old 1@old 2@old +max-unavailable=x                |                  | 2 paused       | unreadable, no old one is replaced
  0@new 1@new +reserve-ordinals=x replicas=1          |                  | 1 scaling-down | unreadable, nothing is scaled down
  0@old 1@old +paused=x                               | create 2@new     | 2 creating     | unreadable, a missing one is made
`);

testRows('a rollout that is stuck or held:', [...stuck, ...forced, ...paused, ...unreadable]);

test('who looks reads why nothing is replaced', () => {
  assert.equal(planned({ annotations: { paused: 'true' }, pods: '0@old 1@old 2@old' }).waits?.detail, 'of an old revision; dkc.dev/paused stops updates'); // prettier-ignore
  assert.match(planned({ annotations: { paused: 'x' }, pods: '0@old 1@old 2@old' }).waits?.detail ?? '', /invalid annotation: .*paused/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planned } from './notation.ts';
import { rows, testRows } from './rows.ts';

const cases = rows(`
  0@old 1@old 2@new!              |                            | 2 NotReady     | a new one that is never ready is waited for
  0@older 1@older 2@old!          |                            | 2 NotReady     | after a fix the broken one still stands in the way
  0@older 1@older 2@old! parallel | delete 2 (update)          | 2 NotReady     | in parallel the fix replaces it
  0@older 1@older                 | create 2@new               | 2 creating     | deleted by hand it comes back fixed
  0@old 1@old 2@new#              | delete 2 (ended)           | 2 Failed       | one that fails is deleted
  0@older 1@older 2@old#          | delete 2 (ended)           | 2 Failed       | one that fails after a fix is deleted
  0@old!                          |                            | 0 NotReady     | one broken from the first is waited for
  0@old! parallel replicas=1      | delete 0 (update)          | 0 NotReady     | one broken from the first is replaced in parallel
  0@old 1@old- 2@new              |                            | 1 Terminating  | one on a lost node keeps all waiting
  1@old- parallel                 | create 0@new, create 2@new | 0 creating     | one on a lost node keeps its own place waiting in parallel
`);

const forced = rows(
  `
  0@older 1@older 2@old!           | delete 2 (forced) | 2 NotReady     | forced, the broken one goes after a fix
  0@older 1@older 2@old?           | delete 2 (forced) | 2 NotReady     | forced, one that is pending goes after a fix
  0@older 1@older 2@old? templates=data claims=data-0,data-1
    | delete 2 (forced) | 2 NotReady | forced, one that is pending goes, and its claims need not be made first
  0@old!                           | delete 0 (forced) | 0 NotReady     | forced, one broken from the first goes
  0@old 1@old 2@new!               |                   | 2 NotReady     | forced, a broken one of the wanted revision stays
  0@old 1@old 2@old!-              |                   | 2 Terminating  | forced, one that goes is not deleted again
  0@older 1@old! 2@old!            | delete 1 (forced) | 1 NotReady     | forced, the lowest that blocks goes first
  0@old! 1@new 2@new partition=1   |                   | 0 NotReady     | forced, one below the partition stays: it would come back as it is
  0@older 1@old! 2@new partition=1 | delete 1 (forced) | 1 NotReady     | forced, one at the partition goes
  0@old=5 minReady=9
    | | 0 MinReadySeconds | forced, one that is ready and needs only time stays
  0@old! 1@old 2@new update=nil currentReplicas=2
                                   |                   | 0 NotReady     | forced, without the block: one that would come back as it is stays
  0@old 1@old! 2@new update=nil currentReplicas=2
                                   | delete 1 (forced) | 1 NotReady     | forced, without the block: one that would come back new goes
  0@old 1@older! 2@new update=nil currentReplicas=1
    | delete 1 (forced) | 1 NotReady | forced, without the block: one of neither revision goes where new ones come
  0@older! 1@old 2@new update=nil currentReplicas=1
    | | 0 NotReady | forced, without the block: one of neither revision stays where current ones come
  0@old! update=OnDelete           |                   | 0 NotReady     | forced, pods that people replace stay
  0@old! +forced-rollback=true +paused=true
                                   |                   | 0 NotReady     | forced and paused, it stays
  0@old! +forced-rollback=true +paused=yes
                                   |                   | 0 NotReady     | forced and unreadable, it stays
  0@old! +forced-rollback=false    |                   | 0 NotReady     | said not to force, it stays
`,
  { annotations: { 'forced-rollback': 'true' } },
);

const paused = rows(
  `
  0@old 1@old 2@old                  |                        | 2 paused       | paused, no old one is replaced
  0@old 1@old 2@new                  |                        | 1 paused       | paused in the middle
  0@old! 1@old 2@new parallel        |                        | 0 NotReady     | paused in parallel
  0@old 1@old 2@old maxUnavailable=2 |                        | 2 paused       | paused, several at once
  0@old 1@old 2@old update=Recreate  |                        |                | paused, Recreate
  0@old 1@old                        | create 2@new           | 2 creating     | paused, a missing one is made
  0@old#                             | delete 0 (ended)       | 0 Failed       | paused, a failed one is deleted
  0@old 1@old replicas=1             | delete 1 (scaled-down) | 1 scaling-down | paused, scaling goes on
  0@new 1@new 2@new                  |                        |                | paused, nothing is to be replaced
  0@old 1@old 2@old +paused=false    | delete 2 (update)      | 2 updating     | no longer paused
`,
  { annotations: { paused: 'true' } },
);

const unreadable = rows(`
  0@old 1@old 2@old +max-unavailable=x                |                  | 2 paused       | unreadable, no old one is replaced
  0@new 1@new +reserve-ordinals=x replicas=1          |                  | 1 scaling-down | unreadable, nothing is scaled down
  0@old 1@old parallel +reserve-ordinals=x replicas=1 |                  | 1 scaling-down | unreadable, nothing is scaled down in parallel
  0@old 1@old 2@old +paused=x update=Recreate         |                  |                | unreadable, not recreated
  0@old 1@old +paused=x                               | create 2@new     | 2 creating     | unreadable, a missing one is made
  0@new# +paused=x                                    | delete 0 (ended) | 0 Failed       | unreadable, a failed one is deleted
`);

testRows('a rollout that is stuck or held:', [...cases, ...forced, ...paused, ...unreadable]);

test('who looks reads why nothing is replaced', () => {
  assert.equal(
    planned({ annotations: { paused: 'true' }, pods: '0@old 1@old 2@old' }).waits?.detail,
    'of an old revision; dkc.dev/paused stops updates',
  );
  assert.match(planned({ annotations: { paused: 'x' }, pods: '0@old 1@old 2@old' }).waits?.detail ?? '', /invalid annotation: .*paused/);
});

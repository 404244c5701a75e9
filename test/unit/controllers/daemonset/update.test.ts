import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, pod } from './notation.ts';
import { rows } from './rows.ts';

// The nodes whose pods are deleted for the update; all pods of these rows are otherwise in order.

const cases = rows(`
  a b c     | a@old b@old c@old maxUnavailable=2         | a b   | replaces as many as may be missing
  a b       | a@old b@old maxUnavailable=0               | a     | replaces one at least where nothing may be missing and nothing be beside
  a b c     | a@old b@old c@old maxUnavailable=34%       | a b   | rounds a share up
  a b c~ d! | a@old b@old maxUnavailable=50%             | a     | takes the share of the nodes that should run
  a b c     | a@new b@old c@old                          | b     | goes on to old ones alone
  a b c     | a@older b@ c@old maxUnavailable=3          | a b c | replaces pods of any other revision, and of none

  a b       | a@new! b@old                               |       | waits for a new one that is not ready
  a b       | a@new=10 b@old minReadySeconds=10          | b     | goes on when a new one has been ready for long enough
  a b       | a@old- b@old                               |       | waits for one that is going
  a b c     | a@old- b@old c@old maxUnavailable=2        | b     | goes on beside what is missing, as far as the budget allows

  a b c     | a@old! b@old! c@old                        | a b   | replaces broken ones beyond the budget
  a b c     | a@old b@old! c@old maxUnavailable=2        | b a   | spends on others what broken ones leave
  a b c d   | a@old b@old! c@old! d@old maxUnavailable=2 | b c   | counts all broken ones against the budget
  a b       | a@old=9 b@old minReadySeconds=10           | a     | takes one that is not ready for long enough as broken

  b         | x@new x@new b@old                          |       | counts excess that nobody removes
  b         | x@new! b@old                               |       | counts one that is not ready on a node that is gone
  a~ c! b   | b@old                                      | b     | does not count a node that should not run and has none
  a~ b      | a@new! b@old                               |       | counts one that is not ready on a node that should not run
  a~ b      | a@old b@old maxUnavailable=2               | a b   | replaces one where it is not made again
  b         | x@old b@new                                | x     | replaces one on a node that is gone
  a b       | b@old maxUnavailable=2                     |       | replaces nothing while there is something to make

  a b       | a@old! b@old onDelete                      |       | replaces nothing where people delete
`);

for (const { why, does, situation } of cases)
  test(`a rolling update ${why}`, () => {
    const { deletions } = planned(situation);
    const updated = deletions.filter(({ reason }) => reason === 'update').map(({ node }) => node);
    assert.equal(updated.join(' '), does);
  });

test('a pod from before there were revisions is up to date by the count of templates', () => {
  const annotations = { 'deprecated.daemonset.template.generation': '7' };
  const pods = planned({ nodes: 'a', pods: 'a@' }).deletions.map((deletion) => deletion.pod);
  const [old] = pods;
  assert.ok(old !== undefined);
  const counted = { ...old, metadata: { ...old.metadata, labels: { app: 'x', 'pod-template-generation': '7' } } };
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted], annotations })), '');
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted] })), 'delete a- (update)');
  for (const other of ['8', 'seven', ''])
    assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted], annotations: { 'deprecated.daemonset.template.generation': other } })), 'delete a- (update)', other); // prettier-ignore
});

test('a pod stays that was made when its revision had its own label or that which it was given for it', () => {
  assert.equal(actionsOf(planned({ nodes: 'a b', pods: 'a@new b@old', revisions: 'old ds-new' })), 'delete b-old (update)');
  const named = pod('a@new');
  named.metadata.labels = { app: 'x', 'controller-revision-hash': 'ds-new' };
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [named] })), '');
});

test('the count of templates says nothing of a pod that has a hash: each set counts from one', () => {
  const orphan = pod('a@old');
  const { labels } = orphan.metadata;
  const counted = { ...orphan, metadata: { ...orphan.metadata, labels: { ...labels, 'pod-template-generation': '1' } } };
  const annotations = { 'deprecated.daemonset.template.generation': '1' };
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted], annotations })), 'delete a-old (update)');
});

const surges = rows(`
  a b   | a@old b@old                               | create a@new               | makes a new one beside an old one
  a b c | a@old b@old c@old maxSurge=2              | create a@new, create b@new | makes as many as the budget has
  a b c | a@old b@old c@old maxSurge=34%            | create a@new, create b@new | rounds a share up
  a b   | a@old/60 a@new!/30 b@old                  |                            | waits for a new one that is not ready
  a b c | a@old/60 a@new!/30 b@old c@old maxSurge=2 | create b@new               | goes on beside it as far as the budget allows
  a b   | a@old/60 a@new/30 b@old                   | delete a-old (surged)      | removes the old one when the new one is available, first
  a b   | a@old-/60 a@new/30 b@old                  | create b@new               | goes on when an old one is going
  a b c | a@old! b@old! c@old | create a@new, create b@new, create c@new | makes a new one at once beside one that is broken
  a b   | a@new! b@old=9 minReadySeconds=10         | create b@new               | takes one that is not ready for long enough as broken
  a b   | a@old# b@new backoff=5                    |                            | makes nothing beside a failed one that has to stay

  a~ b  | a@old! b@new                              | delete a-old (update)      | removes a broken one where it should not be
  a~ b  | a@old b@new!                              |                            | leaves one where it should not be while it is needed
  a~ b | a@old b@new | delete a-old (update) | removes one where it should not be when there are enough without
  a~ b  | a@old b@old                               | create b@new, delete a-old (update) | counts old ones that are needed as enough
  a~ b~ c~ d e | a@old b@old c@old d@new e@new! | delete a-old (update), delete b-old (update) | removes only as many as there are too many
  b     | x@old b@old                               | create b@new               | does not touch what is on a node that is gone
  b     | x@new x@new b@old                         |                            | counts excess on a node that is gone
  a~ b  | a@old b@new! x@new                        | delete a-old (update)      | counts what is on a node that is gone as available
  a b   | b@old                                     | create a@new               | makes missing ones first
`);

for (const { why, does, situation } of surges)
  test(`a surge ${why}`, () => assert.equal(actionsOf(planned({ maxUnavailable: 0, maxSurge: 1, ...situation })), does));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, eventsOf, planned, pods, wakesOf } from './notation.ts';
import { rows, situationOf } from './rows.ts';
import { table } from '../../../support/table.ts';
import { isOver } from '../../../../controllers/daemonset/pods.ts';

// Every pod is of the present revision, unless a row is about revisions: updates are another matter.
// What is done where pods are replaced in place, and while surging.
const cases = table('nodes | pods | in place | surging | why')(`
  a  |                    | create a@new              | same         | makes a pod where there is none
  a  | a@new              |                           | same         | leaves one that runs
  a  | a@new-             |                           | create a@new | waits until a terminating one is gone, unless it may stand beside it
  a  | a@new#-            | create a@new              | same         | is not kept by a pod that has failed and is going

  a~ |                    |                           | same         | makes none where a taint keeps new ones away
  a~ | a@new              |                           | same         | leaves one where a taint keeps only new ones away
  a~ | a@new#             | delete a-new (failed)     | same         | removes a failed one where it is not made again
  a! |                    |                           | same         | makes none where a taint evicts
  a! | a@new              | delete a-new (misplaced)  | same         | removes one where a taint evicts
  a! | a@new a@old! a@new# | delete a-new (misplaced), delete a-new2 (misplaced), delete a-old (misplaced) | same
    | removes all where a taint evicts
  a b | nodeName=b         | create b@new              | same         | makes none on another node than the template names
  a:x b:y | a@new b@new pool=y | delete a-new (misplaced)  | same         | removes one from a node that is not selected

  a  | a@new/30 a@new/60  | delete a-new (surplus)    | same         | keeps the older of two
  a  | a@new?/60 a@new/30 | delete a-new (surplus)    | same         | keeps the one that has a node, however young
  a  | a@older a@old      | delete a-older (surplus)  | same         | keeps the first by name of one second
  a  | a@new-/60 a@new/30 |                           | same         | counts no terminating one as surplus
  a  | a@new#/60 a@new/30 a@new/20 | delete a-new3 (surplus), delete a-new (failed) | same         | counts no failed one as the one to keep
  a  | a@old/60 a@new!/30 | delete a-new (surplus)    |              | keeps the older one of two revisions, unless one of each may be there

  a  | a@new$             | delete a-new (succeeded)  | same         | removes one that succeeded, and makes the next one later
  a  | a@new#             | delete a-new (failed)     | same         | removes one that failed, and makes the next one later
  a  | a@new# backoff=500 |                           | same         | leaves one that failed for as long as it has to stay

  a  | a@new b@new?       | delete b-new (vanished)   | same         | removes what was made for a node that is gone
  a  | a@new b@new b@new  |                           | same         | leaves two on a node that is gone
  c a b |                    | create a@new, create b@new, create c@new | same         | goes by the names of nodes
`);

for (const { nodes, pods, why, ...does } of cases)
  test(`on a node the set ${why}`, () => {
    const situation = { nodes, ...situationOf(pods) };
    assert.equal(actionsOf(planned(situation)), does['in place'], 'in place');
    const surging = does.surging === 'same' ? does['in place'] : does.surging;
    assert.equal(actionsOf(planned({ ...situation, maxUnavailable: 0, maxSurge: 1 })), surging, 'surging');
  });

// Of the node's pods one may be of the present revision and one of another.
const beside = rows(`
  a  | a@old/60 a@new/30                    | delete a-old (surged)  | removes the old one once the new one is available
  a  | a@old/60 a@new/30 minReadySeconds=30 | delete a-old (surged)  | removes the old one when the new one has been ready for long enough
  a  | a@old!/60 a@new!/30                  | delete a-old (surged)  | removes an old one that is not ready
  a  | a@old/60 a@old/50 a@new!/30 a@new!/20 | delete a-old2 (surplus), delete a-new2 (surplus) | keeps the oldest of each
  a~ | a@old/60 a@new/30                    | delete a-old (surged)  | removes the old one beside a new one where no pods are made any more
  a  | a@old/60 a@new#/30                   | delete a-new (failed)  | counts no failed one as the new one
`);
for (const { why, does, situation } of beside)
  test(`surging on a node the set ${why}`, () => {
    assert.equal(actionsOf(planned({ ...situation, maxUnavailable: 0, maxSurge: 1 })), does);
  });

test('a surging node never has more than one new and one old pod', () => {
  const marks = ['', '!', '-', '#', '$', '?'];
  for (const revision of ['new', 'old'])
    for (const one of marks)
      for (const other of marks)
        for (const third of [...marks.map((mark) => `a@new${mark}`), '']) {
          const text = `a@${revision}${one} a@old${other} ${third}`;
          const there = pods(text);
          const { creations, deletions } = planned({ nodes: 'a', pods: there, maxUnavailable: 0, maxSurge: 1 });
          const gone = new Set(deletions.map(({ pod }) => pod));
          const left = there.filter((pod) => !isOver(pod) && pod.metadata.deletionTimestamp === undefined && !gone.has(pod));
          const of = (revision: string): number => left.filter(({ metadata }) => metadata.name?.startsWith(`a-${revision}`)).length;
          const [fresh, old] = [of('new') + creations.length, of('old')];
          assert.ok(fresh <= 1 && old <= 1, `${text}: ${actionsOf({ creations, deletions })}`);
        }
});

test('a failed pod that goes is told of, and its node will have to wait for longer', () => {
  const plan = planned({ nodes: 'a b', pods: 'a@new# b@new' });
  assert.deepEqual(eventsOf(plan), ['Warning FailedDaemonPod: Found failed daemon pod ns/a-new on node a, will try to kill it']);
  assert.deepEqual(wakesOf(plan), []);
});

test('a failed pod that stays is not told of; the set is looked at when it may go', () => {
  const plan = planned({ nodes: 'a b', pods: 'a@new# b@new', memory: { backoffMs: (node) => (node === 'a' ? 3_000 : 0) } });
  assert.deepEqual(eventsOf(plan), []);
  assert.deepEqual(wakesOf(plan), ['3s backoff of the failed pod on node a']);
});

test('where the controller places pods, a node without room is left alone, and told of', () => {
  const full = { run: true, schedule: false, keep: true, reason: { kind: 'fits' as const }, failedPlacement: ['no room'] };
  for (const pods of ['', 'a@new#', 'a@new a@new']) {
    const plan = planned({ nodes: 'a', pods, placement: 'controller', decide: () => full });
    assert.equal(actionsOf(plan), '', pods);
    assert.deepEqual(plan.suspendedOn, ['a'], pods);
    assert.deepEqual(eventsOf(plan), ['Warning FailedPlacement: failed to place pod on "a": no room'], pods);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, planned, pod, type Situation } from './notation.ts';

interface Case extends Situation {
  why: string;
  /** Deleted for the update; all pods of these rows are otherwise in order. */
  deletes: string;
}

const cases: Case[] = [
  { why: 'replaces as many as may be missing', nodes: 'a b c', pods: 'a@old b@old c@old', maxUnavailable: 2, deletes: 'a b' },
  { why: 'replaces one where nothing is said', nodes: 'a b c', pods: 'a@old b@old c@old', deletes: 'a' },
  {
    why: 'replaces one at least where nothing may be missing and nothing be beside',
    nodes: 'a b',
    pods: 'a@old b@old',
    maxUnavailable: 0,
    deletes: 'a',
  },
  { why: 'rounds a share up', nodes: 'a b c', pods: 'a@old b@old c@old', maxUnavailable: '34%', deletes: 'a b' },
  {
    why: 'does not round up a share that is whole',
    nodes: 'a b c d',
    pods: 'a@old b@old c@old d@old',
    maxUnavailable: '50%',
    deletes: 'a b',
  },
  { why: 'takes the share of the nodes that should run', nodes: 'a b c~ d!', pods: 'a@old b@old', maxUnavailable: '50%', deletes: 'a' },
  { why: 'replaces one at least where the share is none', nodes: 'a b', pods: 'a@old b@old', maxUnavailable: '0%', deletes: 'a' },
  { why: 'replaces one where the number cannot be read', nodes: 'a b', pods: 'a@old b@old', maxUnavailable: 'some', deletes: 'a' },
  { why: 'goes by the names of nodes', nodes: 'c b a', pods: 'c@old b@old a@old', maxUnavailable: 2, deletes: 'a b' },
  { why: 'goes on to old ones alone', nodes: 'a b c', pods: 'a@new b@old c@old', deletes: 'b' },
  { why: 'is done when all are new', nodes: 'a b', pods: 'a@new b@new', deletes: '' },
  {
    why: 'replaces pods of any other revision, and of none',
    nodes: 'a b c',
    pods: 'a@older b@ c@old',
    maxUnavailable: 3,
    deletes: 'a b c',
  },

  { why: 'waits for a new one that is not ready', nodes: 'a b', pods: 'a@new! b@old', deletes: '' },
  { why: 'waits for a new one that is not scheduled', nodes: 'a b', pods: 'a@new!? b@old', deletes: '' },
  { why: 'waits for a new one that is not ready for long enough', nodes: 'a b', pods: 'a@new=9 b@old', minReadySeconds: 10, deletes: '' },
  { why: 'goes on when a new one has been ready for long enough', nodes: 'a b', pods: 'a@new=10 b@old', minReadySeconds: 10, deletes: 'b' },
  { why: 'waits for one that is going', nodes: 'a b', pods: 'a@old- b@old', deletes: '' },
  { why: 'waits for a new one that is going', nodes: 'a b', pods: 'a@new- b@old', deletes: '' },
  {
    why: 'goes on beside what is missing, as far as the budget allows',
    nodes: 'a b c',
    pods: 'a@old- b@old c@old',
    maxUnavailable: 2,
    deletes: 'b',
  },
  { why: 'looks at what stays where another is going', nodes: 'a b', pods: 'a@old- a@new b@old', deletes: 'b' },
  { why: 'waits for a failed one that has to stay', nodes: 'a b', pods: 'a@new# b@old', memory: { backoffMs: () => 5 }, deletes: '' },

  { why: 'replaces broken ones beyond the budget', nodes: 'a b c', pods: 'a@old! b@old! c@old', deletes: 'a b' },
  { why: 'replaces broken ones however many are missing', nodes: 'a b c', pods: 'a@new! b@new! c@old!', deletes: 'c' },
  { why: 'counts broken ones against the budget', nodes: 'a b c', pods: 'a@old b@old! c@old', maxUnavailable: 1, deletes: 'b' },
  { why: 'spends on others what broken ones leave', nodes: 'a b c', pods: 'a@old b@old! c@old', maxUnavailable: 2, deletes: 'b a' },
  {
    why: 'counts all broken ones against the budget',
    nodes: 'a b c d',
    pods: 'a@old b@old! c@old! d@old',
    maxUnavailable: 2,
    deletes: 'b c',
  },
  { why: 'takes one that is not ready for long enough as broken', nodes: 'a b', pods: 'a@old=9 b@old', minReadySeconds: 10, deletes: 'a' },
  { why: 'takes one that never got to its node as broken', nodes: 'a b', pods: 'a@old b@old!?', deletes: 'b' },

  { why: 'counts excess that nobody removes', nodes: 'b', pods: 'x@new x@new b@old', deletes: '' },
  { why: 'counts an old and a new one on a node that is gone', nodes: 'b', pods: 'x@new x@old b@old', deletes: '' },
  { why: 'counts one that is not ready on a node that is gone', nodes: 'b', pods: 'x@new! b@old', deletes: '' },
  { why: 'counts one that is going on a node that is gone', nodes: 'b', pods: 'x@new- b@old', deletes: '' },
  { why: 'does not count a node that is gone with all it had', nodes: 'b', pods: 'x@new-# b@old', deletes: 'b' },
  { why: 'does not count a node that should not run and has none', nodes: 'a~ c! b', pods: 'b@old', deletes: 'b' },
  { why: 'counts one that is not ready on a node that should not run', nodes: 'a~ b', pods: 'a@new! b@old', deletes: '' },
  { why: 'replaces one where it is not made again', nodes: 'a~ b', pods: 'a@old b@old', maxUnavailable: 2, deletes: 'a b' },
  { why: 'replaces a broken one where it is not made again', nodes: 'a~ b', pods: 'a@old! b@new', deletes: 'a' },
  { why: 'replaces one on a node that is gone', nodes: 'b', pods: 'x@old b@new', deletes: 'x' },
  { why: 'replaces nothing while there is something to make', nodes: 'a b', pods: 'b@old', maxUnavailable: 2, deletes: '' },
  { why: 'replaces nothing while something is surplus', nodes: 'a b', pods: 'a@new a@new b@old', maxUnavailable: 2, deletes: '' },

  { why: 'replaces nothing where people delete', nodes: 'a b', pods: 'a@old! b@old', onDelete: true, deletes: '' },
];

for (const { why, deletes, ...situation } of cases)
  test(`a rolling update ${why}`, () => {
    const { deletions } = planned(situation);
    const updated = deletions.filter(({ reason }) => reason === 'update').map(({ node }) => node);
    assert.equal(updated.join(' '), deletes);
  });

test('a rolling update only deletes: what is missing is made in a later pass', () =>
  assert.equal(actionsOf(planned({ nodes: 'a b', pods: 'a@old b@old!' })), 'delete b-old (update)'));

test('where people delete, the missing one is made of the present template', () =>
  assert.equal(actionsOf(planned({ nodes: 'a b', pods: 'a@old', onDelete: true })), 'create b@new'));

test('a pod from before there were revisions is up to date by the count of templates', () => {
  const annotations = { 'deprecated.daemonset.template.generation': '7' };
  const pods = planned({ nodes: 'a', pods: 'a@' }).deletions.map((deletion) => deletion.pod);
  const [old] = pods;
  assert.ok(old !== undefined);
  const counted = { ...old, metadata: { ...old.metadata, labels: { app: 'x', 'pod-template-generation': '7' } } };
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted], annotations })), '');
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted] })), 'delete a- (update)');
  for (const other of ['8', 'seven', ''])
    assert.equal(
      actionsOf(planned({ nodes: 'a', pods: [counted], annotations: { 'deprecated.daemonset.template.generation': other } })),
      'delete a- (update)',
      other,
    );
});

test('the count of templates says nothing of a pod that has a hash: each set counts from one', () => {
  const orphan = pod('a@old');
  const { labels } = orphan.metadata;
  const counted = { ...orphan, metadata: { ...orphan.metadata, labels: { ...labels, 'pod-template-generation': '1' } } };
  const annotations = { 'deprecated.daemonset.template.generation': '1' };
  assert.equal(actionsOf(planned({ nodes: 'a', pods: [counted], annotations })), 'delete a-old (update)');
});

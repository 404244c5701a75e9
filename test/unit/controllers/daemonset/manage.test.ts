import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, eventsOf, planned, pod, wakesOf, type Situation } from './notation.ts';

interface Case extends Omit<Situation, 'maxSurge'> {
  why: string;
  /** What is done where pods are replaced in place. */
  does: string;
  /** What is done while surging, where that differs. */
  surging?: string;
}

// Every pod is of the present revision, unless a row is about revisions: updates are another matter.
const cases: Case[] = [
  { why: 'makes a pod where there is none', nodes: 'a', does: 'create a@new' },
  { why: 'leaves one that runs', nodes: 'a', pods: 'a@new', does: '' },
  { why: 'leaves one that is not ready', nodes: 'a', pods: 'a@new!', does: '' },
  { why: 'counts one that is made for the node as there', nodes: 'a', pods: 'a@new?', does: '' },
  {
    why: 'waits until a terminating one is gone, unless it may stand beside it',
    nodes: 'a',
    pods: 'a@new-',
    does: '',
    surging: 'create a@new',
  },
  { why: 'is not kept by a pod that has failed and is going', nodes: 'a', pods: 'a@new#-', does: 'create a@new' },
  { why: 'is not kept by a pod that has succeeded and is going', nodes: 'a', pods: 'a@new$-', does: 'create a@new' },
  { why: 'is kept by the one of two that is only going', nodes: 'a', pods: 'a@new$- a@new-', does: '', surging: 'create a@new' },
  { why: 'makes none beside the new one of a pod that is going', nodes: 'a', pods: 'a@old- a@new', does: '' },

  { why: 'makes none where a taint keeps new ones away', nodes: 'a~', does: '' },
  { why: 'leaves one where a taint keeps only new ones away', nodes: 'a~', pods: 'a@new', does: '' },
  { why: 'removes surplus where a taint keeps new ones away', nodes: 'a~', pods: 'a@new a@new', does: 'delete a-new2 (surplus)' },
  { why: 'removes a failed one where it is not made again', nodes: 'a~', pods: 'a@new#', does: 'delete a-new (failed)' },
  { why: 'does not mind a taint that merely asks', nodes: 'a^', does: 'create a@new' },
  { why: 'makes none where a taint evicts', nodes: 'a!', does: '' },
  { why: 'removes one where a taint evicts', nodes: 'a!', pods: 'a@new', does: 'delete a-new (misplaced)' },
  {
    why: 'removes all where a taint evicts',
    nodes: 'a!',
    pods: 'a@new a@old! a@new#',
    does: 'delete a-new (misplaced), delete a-new2 (misplaced), delete a-old (misplaced)',
  },
  { why: 'does not remove twice what is going', nodes: 'a!', pods: 'a@new- a@new', does: 'delete a-new2 (misplaced)' },
  { why: 'removes one that never got to the node that evicts', nodes: 'a!', pods: 'a@new?', does: 'delete a-new (misplaced)' },
  { why: 'makes none on another node than the template names', nodes: 'a b', spec: { nodeName: 'b' }, does: 'create b@new' },
  {
    why: 'removes one from another node than the template names',
    nodes: 'a',
    pods: 'a@new',
    spec: { nodeName: 'b' },
    does: 'delete a-new (misplaced)',
  },
  {
    why: 'removes one from a node that is not selected',
    nodes: 'a:x b:y',
    pods: 'a@new b@new',
    spec: { nodeSelector: { pool: 'y' } },
    does: 'delete a-new (misplaced)',
  },

  { why: 'keeps the older of two', nodes: 'a', pods: 'a@new/30 a@new/60', does: 'delete a-new (surplus)' },
  { why: 'keeps the one that has a node, however young', nodes: 'a', pods: 'a@new?/60 a@new/30', does: 'delete a-new (surplus)' },
  { why: 'keeps the first by name of one second', nodes: 'a', pods: [pod('a@new', 'z'), pod('a@new', 'y')], does: 'delete z (surplus)' },
  { why: 'keeps one of three', nodes: 'a', pods: 'a@new/10 a@new/30 a@new/20', does: 'delete a-new3 (surplus), delete a-new (surplus)' },
  { why: 'keeps the older one, ready or not', nodes: 'a', pods: 'a@new!/60 a@new/30', does: 'delete a-new2 (surplus)' },
  { why: 'counts no terminating one as surplus', nodes: 'a', pods: 'a@new-/60 a@new/30', does: '' },
  {
    why: 'counts no failed one as the one to keep',
    nodes: 'a',
    pods: 'a@new#/60 a@new/30 a@new/20',
    does: 'delete a-new3 (surplus), delete a-new (failed)',
  },
  {
    why: 'keeps the older one of two revisions, unless one of each may be there',
    nodes: 'a',
    pods: 'a@old/60 a@new!/30',
    does: 'delete a-new (surplus)',
    surging: '',
  },

  { why: 'removes one that succeeded, and makes the next one later', nodes: 'a', pods: 'a@new$', does: 'delete a-new (succeeded)' },
  { why: 'removes one that succeeded beside one that runs', nodes: 'a', pods: 'a@new$ a@new', does: 'delete a-new (succeeded)' },
  { why: 'removes one that failed, and makes the next one later', nodes: 'a', pods: 'a@new#', does: 'delete a-new (failed)' },
  { why: 'removes all that failed', nodes: 'a', pods: 'a@new# a@new#', does: 'delete a-new (failed), delete a-new2 (failed)' },
  { why: 'leaves one that failed for as long as it has to stay', nodes: 'a', pods: 'a@new#', memory: { backoffMs: () => 500 }, does: '' },
  {
    why: 'removes one that succeeded however often others failed',
    nodes: 'a',
    pods: 'a@new$',
    memory: { backoffMs: () => 500 },
    does: 'delete a-new (succeeded)',
  },

  { why: 'removes what was made for a node that is gone', nodes: 'a', pods: 'a@new b@new?', does: 'delete b-new (vanished)' },
  { why: 'leaves what was on a node that is gone', nodes: 'a', pods: 'a@new b@new', does: '' },
  { why: 'does not remove twice what was made for a node that is gone', nodes: 'a', pods: 'a@new b@new?-', does: '' },
  { why: 'leaves failed ones on a node that is gone', nodes: 'a', pods: 'a@new b@new#', does: '' },
  { why: 'leaves two on a node that is gone', nodes: 'a', pods: 'a@new b@new b@new', does: '' },
  { why: 'goes by the names of nodes', nodes: 'c a b', does: 'create a@new, create b@new, create c@new' },
];

for (const { why, does, surging = does, ...situation } of cases)
  test(`on a node the set ${why}`, () => {
    assert.equal(actionsOf(planned(situation)), does, 'in place');
    assert.equal(actionsOf(planned({ ...situation, maxUnavailable: 0, maxSurge: 1 })), surging, 'surging');
  });

// Of the node's pods one may be of the present revision and one of another.
const beside: { why: string; pods: string; does: string; nodes?: string; minReadySeconds?: number }[] = [
  { why: 'leaves a new one that is not ready beside an old one that is', pods: 'a@old/60 a@new!/30', does: '' },
  { why: 'removes the old one once the new one is available', pods: 'a@old/60 a@new/30', does: 'delete a-old (surged)' },
  { why: 'leaves the old one until the new one is available', pods: 'a@old/60 a@new/30', minReadySeconds: 31, does: '' },
  {
    why: 'removes the old one when the new one has been ready for long enough',
    pods: 'a@old/60 a@new/30',
    minReadySeconds: 30,
    does: 'delete a-old (surged)',
  },
  { why: 'removes an old one that is not ready', pods: 'a@old!/60 a@new!/30', does: 'delete a-old (surged)' },
  { why: 'leaves an old one that is ready and not yet available', pods: 'a@old=5 a@new!/30', minReadySeconds: 10, does: '' },
  {
    why: 'keeps the oldest of each',
    pods: 'a@old/60 a@old/50 a@new!/30 a@new!/20',
    does: 'delete a-old2 (surplus), delete a-new2 (surplus)',
  },
  { why: 'counts all other revisions as one', pods: 'a@older/60 a@old/50 a@new!/30', does: 'delete a-old (surplus)' },
  {
    why: 'removes surplus and the old one at once',
    pods: 'a@old/60 a@new/30 a@new/20',
    does: 'delete a-new2 (surplus), delete a-old (surged)',
  },
  {
    why: 'removes the old one beside a new one where no pods are made any more',
    nodes: 'a~',
    pods: 'a@old/60 a@new/30',
    does: 'delete a-old (surged)',
  },
  { why: 'makes none beside a failed one, in whose place it would fail too', pods: 'a@new#', does: 'delete a-new (failed)' },
  { why: 'counts no failed one as the new one', pods: 'a@old/60 a@new#/30', does: 'delete a-new (failed)' },
];
for (const { why, does, nodes = 'a', ...situation } of beside)
  test(`surging on a node the set ${why}`, () => {
    assert.equal(actionsOf(planned({ nodes, ...situation, maxUnavailable: 0, maxSurge: 1 })), does);
  });

test('a surging node never has more than one new and one old pod', () => {
  const marks = ['', '!', '-', '#', '$', '?'];
  for (const revision of ['new', 'old'])
    for (const one of marks)
      for (const other of marks)
        for (const third of [...marks.map((mark) => `a@new${mark}`), '']) {
          const text = `a@${revision}${one} a@old${other} ${third}`;
          const { creations, deletions } = planned({ nodes: 'a', pods: text, maxUnavailable: 0, maxSurge: 1 });
          const gone = new Set(deletions.map(({ pod: { metadata } }) => metadata.name));
          const left = text.split(' ').filter((word, index, all) => {
            const name = word.replace('@', '-').replace(/[-!#$?]+$/, '');
            const nth = all.slice(0, index + 1).filter((word) => word.replace('@', '-').replace(/[-!#$?]+$/, '') === name).length;
            return word !== '' && !/[-#$]$/.test(word) && !gone.has(nth === 1 ? name : `${name}${nth}`);
          });
          const fresh = left.filter((word) => word.startsWith('a@new')).length + creations.length;
          const old = left.filter((word) => word.startsWith('a@old')).length;
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

test('a pod that succeeded is told of, and its node need not wait', () => {
  const plan = planned({ nodes: 'a', pods: 'a@new$' });
  assert.deepEqual(eventsOf(plan), ['Normal SucceededDaemonPod: Found succeeded daemon pod ns/a-new on node a, will try to delete it']);
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, emptyStatus, eventsOf, numbersOf, planned, pod, pods, wakesOf } from './notation.ts';

const many = (count: number): string => Array.from({ length: count }, (_, at) => `n${String(at).padStart(3, '0')}`).join(' ');
const on = (nodes: string, as: string): string => nodes.replaceAll(/(?= |$)/g, as);

test('no more than 250 pods are made or replaced in one pass', () => {
  const nodes = many(300);
  assert.equal(planned({ nodes }).creations.length, 250);
  assert.equal(planned({ nodes, pods: on(nodes, '@old'), maxUnavailable: '100%' }).deletions.length, 250);
  assert.equal(planned({ nodes, pods: on(nodes, '@old'), maxUnavailable: 0, maxSurge: '100%' }).creations.length, 250);
});

const seen = { observedGeneration: 1, ...emptyStatus };

test('while the last pass is not seen yet nothing is done but its numbers told', () => {
  for (const situation of [
    { nodes: 'a b', pods: 'a@new' },
    { nodes: 'a b', pods: 'a@old b@old!' },
  ]) {
    const pending = planned({ ...situation, status: seen, pendingMs: 7_000 });
    assert.deepEqual([actionsOf(pending), eventsOf(pending), pending.truncate, pending.status?.observedGeneration], ['', [], [], 1]);
    assert.ok(wakesOf(pending).includes('7s creations or deletions are not seen yet'));
    const settled = planned({ ...situation, status: seen });
    assert.notEqual(actionsOf(settled), '');
    assert.equal(settled.status?.observedGeneration, 2);
    assert.equal(numbersOf(pending.status), numbersOf(settled.status));
  }
});

test('while the last pass is not seen yet a status that was never written claims no generation', () =>
  assert.equal('observedGeneration' in (planned({ nodes: 'a', pendingMs: 1 }).status ?? {}), false));

test('numbers alone wait for their turn, and the set is looked at then', () => {
  const status = { ...seen, observedGeneration: 2, currentNumberScheduled: 2, desiredNumberScheduled: 2 };
  const held = planned({ nodes: 'a b', pods: 'a@new! b@old', status, memory: { statusHeldMs: () => 200 } });
  assert.equal(held.status, undefined);
  assert.deepEqual(wakesOf(held), ['0.2s the status was written a moment ago']);
  assert.notEqual(planned({ nodes: 'a', pods: 'a@new!', status: seen, memory: { statusHeldMs: () => 200 } }).status, undefined, 'a generation does not wait'); // prettier-ignore
});

test('pods that the server changes on their way in are not made for a while', () => {
  const held = planned({ nodes: 'a b! c', pods: 'b@new c@old', memory: { creationsHeldMs: 4_000 } });
  assert.equal(actionsOf(held), 'delete b-new (misplaced)');
  assert.deepEqual(wakesOf(held), ['4s the API server changed the last pod that was created']);
});

const wakes: { why: string; pods: string; surging?: boolean; backoff?: number; wakes: string[] }[] = [
  { why: 'nothing for one that is not ready', pods: 'a@new!=2', wakes: [] },
  { why: 'a ready one that is not available yet', pods: 'a@new=4', wakes: ['6s a pod will be available'] },
  { why: 'one that became ready years from now, as a clock says that may be put right', pods: 'a@new=-99999999', wakes: ['10s a pod will be available'] }, // prettier-ignore
  { why: 'the new one beside an old one', pods: 'a@old/60 a@new/3', surging: true, wakes: ['7s a pod will be available'] },
  { why: 'one whose predecessor failed', pods: 'a@new#/60 a@new/3', backoff: 9_000, wakes: ['9s backoff of the failed pod on node a', '7s a pod will be available'] }, // prettier-ignore
];
for (const { why, pods, surging = false, backoff = 0, wakes: expected } of wakes)
  test(`time alone brings a set back for ${why}`, () => {
    const update = surging ? { maxUnavailable: 0, maxSurge: 1 } : {};
    assert.deepEqual(wakesOf(planned({ nodes: 'a', pods, minReadySeconds: 10, memory: { backoffMs: () => backoff }, ...update })), expected); // prettier-ignore
  });

test('old revisions above the limit go, unless a pod is of them', () => {
  const truncated = (historyLimit: number, there: string, pendingMs = 0): string =>
    planned({ nodes: 'a', pods: there, revisions: 'one two three four new', pendingMs, historyLimit })
      .truncate.map(({ metadata }) => metadata.name)
      .join(' ');
  assert.equal(truncated(3, 'a@new'), 'ds-one');
  assert.equal(truncated(2, 'a@one'), 'ds-two ds-three');
  assert.equal(truncated(2, 'a@one', 5), '', 'the cache does not show the last writes yet');
  assert.equal(truncated(0, 'a@two#- a@new'), 'ds-one ds-three ds-four', 'a pod that is over and going counts');
  assert.equal(truncated(0, 'x@three a@new'), 'ds-one ds-two ds-four', 'a pod on a node that is gone counts');
});

test('pods that nothing says a node of count for none, and are left alone', () => {
  const lost = pod('a@new?', 'lost');
  const nowhere = { ...lost, spec: { containers: [] } };
  const plan = planned({ nodes: 'a', pods: [nowhere] });
  assert.equal(actionsOf(plan), 'create a@new');
  assert.equal(numbersOf(plan.status), '1/0/0/0/0 unavailable 1');
});

test("orphans that match count as the set's own, and are to be adopted; what does not match any more is let go", () => {
  const [one = pod('a@new'), other = one] = pods('a@new b@new');
  const orphan = { ...one, metadata: { ...one.metadata, ownerReferences: [] } };
  const unselected = { ...other, metadata: { ...other.metadata, labels: { app: 'y' } } };
  const plan = planned({ nodes: 'a b', pods: [orphan, unselected] });
  assert.deepEqual(plan.adoption.pods, { keep: [], adopt: [orphan], release: [unselected] });
  assert.equal(actionsOf(plan), 'create b@new');
});

test('pods of a duplicate revision are not judged before they have been told', () => {
  // Both hold the present template; the pod carries the one that goes.
  const found = planned({ nodes: 'a', pods: 'a@new', revisions: 'new copy' });
  assert.ok(found.history.some((step) => step.do === 'relabel'));
  assert.equal(actionsOf(found), '');
  assert.ok(wakesOf(found).includes('1s pods get the label of another revision'));
});

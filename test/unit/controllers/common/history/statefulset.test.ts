import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type History,
  type HistoryFacts,
  type Revision,
  statefulSetHistory,
  wordHash,
} from '../../../../../controllers/common/history/contract.ts';
import { executeHistory } from '../../../../../controllers/common/history/execute.ts';
import { revisionData } from '../../../../../controllers/common/history/revision.ts';
import { statefulSets } from '../../../../../kube/api/object.ts';
import { controllerRef } from '../../../../../kube/controller/owners.ts';
import { HistoryScene, ownedBy } from './scene.ts';

const scene = (image: string): HistoryScene => new HistoryScene(image, { resource: statefulSets, rules: statefulSetHistory });

/** The hash of what the set has now. */
const hashOf = (at: HistoryScene, count?: number): string => wordHash(revisionData(at.set.spec.template), count);

const nameOf = ({ current }: History): string => current.metadata.name ?? '';

/** The facts without the revisions: of a cache that has not seen them. */
const unlisted = (at: HistoryScene): HistoryFacts => ({ ...at.facts(), revisions: [] });

test('the first revision has the name that the field would give it, and is taken from then on', async () => {
  const at = scene('a');
  const hash = hashOf(at);
  const made = await at.pass();
  assert.equal(at.revisions, `ds-${hash}#1=a@${hash}`);
  assert.equal(made.hash, `ds-${hash}`);
  assert.equal(made.collisionCount, undefined);
  assert.deepEqual(made.current.metadata.ownerReferences, [controllerRef(at.set, statefulSets)]);
  assert.deepEqual((await at.pass()).current.metadata, made.current.metadata);
  assert.equal(at.told.length, 1);
});

const collisions: { why: string; change: (at: HistoryScene) => (revision: Revision) => Revision }[] = [
  { why: 'one of ours with other content', change: (at) => at.ofOther },
  { why: 'an orphan with other content', change: (at) => (revision) => ownedBy()(at.ofOther(revision)) },
  { why: 'one of another owner', change: (at) => ownedBy({ ...controllerRef(at.set, statefulSets), uid: 'another' }) },
];
for (const { why, change } of collisions) {
  test(`a name that ${why} has is a collision: the next name is tried at once, the label keeps the first hash, and the count is handed back`, async () => {
    const at = scene('a');
    at.take(change(at));
    const there = at.revisions;
    const made = await at.pass(unlisted(at));
    assert.equal(made.collisionCount, 1);
    assert.equal(made.hash, `ds-${hashOf(at, 1)}`);
    assert.deepEqual(at.revisions.split(' ').toSorted(), [there, `ds-${hashOf(at, 1)}#1=a@${hashOf(at)}`].toSorted());
    assert.equal(at.set.status?.collisionCount, undefined, 'the status is the caller’s');
    assert.equal(at.calls, 3);
  });
}

test('collisions are counted on from the status, as many as there are', async () => {
  const at = scene('a');
  at.change('set', 'ds', (set) => ({ ...set, status: { ...Object(set['status']), collisionCount: 4 } }));
  at.take(at.ofOther, [4, 5, 6, 7, 8]);
  const made = await at.pass(unlisted(at));
  assert.deepEqual([made.collisionCount, nameOf(made)], [9, `ds-${hashOf(at, 9)}`]);
  assert.equal(made.current.metadata.labels?.['controller.kubernetes.io/hash'], hashOf(at, 4));
});

test('a collision that ends at one of ours with the same content takes that one', async () => {
  const at = scene('a');
  at.take(at.ofOther);
  const before = unlisted(at);
  const first = await at.pass(before);
  assert.deepEqual(await at.pass(before), first);
  assert.deepEqual(at.told, Array(2).fill(`wrote controllerrevisions ds-${hashOf(at, 1)}`));
});

test('a signal ends what collisions go on and on', async () => {
  const at = scene('a');
  const reason = new Error('the lease is lost');
  let tries = 0;
  const client = new Proxy(at.writer().client, {
    get: (real, name) => {
      if (name === 'create') at.take(at.ofOther, [tries++]);
      if (tries === 5) at.signal.abort(reason);
      const call: unknown = Reflect.get(real, name);
      return typeof call === 'function' ? (call.bind(real) as unknown) : call;
    },
  });
  const pass = executeHistory({ ...at.writer(), client }, at.plan(unlisted(at)), at.signal.signal);
  await assert.rejects(pass, (error) => error === reason);
  assert.equal(tries, 5);
});

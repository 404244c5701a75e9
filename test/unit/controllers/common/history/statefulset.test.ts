import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSetHistory } from '../../../../../controllers/common/history/contract.ts';
import type { History, HistoryFacts, Revision } from '../../../../../controllers/common/history/contract.ts';
import { executeHistory, executeTruncation } from '../../../../../controllers/common/history/execute.ts';
import { wordHash } from '../../../../../controllers/common/history/hash.ts';
import { planTruncation } from '../../../../../controllers/common/history/plan.ts';
import { newRevision, revisionData } from '../../../../../controllers/common/history/revision.ts';
import type { OwnerReference } from '../../../../../kube/api/object.ts';
import { statefulSets } from '../../../../../kube/api/resources.ts';
import { controllerRef } from '../../../../../kube/controller/owner-refs.ts';
import { names, stepsOf } from './notation.ts';
import { HistoryScene } from './scene.ts';

const scene = (image: string): HistoryScene => new HistoryScene(image, { resource: statefulSets, rules: statefulSetHistory });

/** The hash of what the set has now. */
const hashOf = (at: HistoryScene, count?: number): string => wordHash(revisionData(at.set.spec.template), count);

const nameOf = ({ current }: History): string => current.metadata.name ?? '';

/** Revisions that nobody listed have the names that the set would give with these counts. */
function taken(at: HistoryScene, counts: readonly number[], change: (revision: Revision) => Revision): void {
  for (const collisionCount of counts) {
    const { owner, template } = at.facts();
    at.api.add(change(newRevision(owner, statefulSets, { template, collisionCount }, 1, statefulSetHistory)));
  }
}

const ofOther = (at: HistoryScene) => (revision: Revision) => ({ ...revision, data: revisionData(at.template('other')) });
const ownedBy = (ownerReferences: OwnerReference[]) => (revision: Revision) => ({
  ...revision,
  metadata: { ...revision.metadata, ownerReferences },
});

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

test('a rollback gives the old revision a new number, and nothing else', async () => {
  const at = scene('a').with('ds-a#1=a@- ds-b#2=a ds-c#3=c', 'p1@ds-c');
  const { current, hash } = await at.pass();
  assert.equal(at.revisions, 'ds-a#1=a@- ds-b#4=a@b ds-c#3=c@c');
  assert.deepEqual([current.metadata.name, current.revision, hash, at.pods], ['ds-b', 4, 'ds-b', 'p1@ds-c']);
  assert.deepEqual(at.told, ['wrote controllerrevisions ds-b']);
});

test('a revision that the cache does not have is taken when it is ours, without a collision', async () => {
  const at = scene('a');
  const before = at.facts();
  const first = await at.pass(before);
  assert.deepEqual(await at.pass(before), first);
  assert.equal(first.collisionCount, undefined);
  assert.equal(at.told.length, 2, 'the cache has to come as far');
});

test('an orphan of the same content is taken: pods that were left with it carry its name', async () => {
  const at = scene('a');
  taken(at, [0], ownedBy([]));
  const { collisionCount, hash } = await at.pass();
  assert.deepEqual([collisionCount, hash, at.revisions], [undefined, `ds-${hashOf(at)}`, `ds-${hashOf(at)}#1=a@${hashOf(at)}`]);
});

const collisions: { why: string; change: (at: HistoryScene) => (revision: Revision) => Revision }[] = [
  { why: 'one of ours with other content', change: ofOther },
  { why: 'an orphan with other content', change: (at) => (revision) => ownedBy([])(ofOther(at)(revision)) },
  { why: 'one of another owner', change: (at) => ownedBy([{ ...controllerRef(at.set, statefulSets), uid: 'another' }]) },
];
for (const { why, change } of collisions) {
  test(`a name that ${why} has is a collision: the next name is tried at once, the label keeps the first hash, and the count is handed back`, async () => {
    const at = scene('a');
    taken(at, [0], change(at));
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
  taken(at, [4, 5, 6, 7, 8], ofOther(at));
  const made = await at.pass(unlisted(at));
  assert.deepEqual([made.collisionCount, nameOf(made)], [9, `ds-${hashOf(at, 9)}`]);
  assert.equal(made.current.metadata.labels?.['controller.kubernetes.io/hash'], hashOf(at, 4));
});

test('a collision that ends at one of ours with the same content takes that one', async () => {
  const at = scene('a');
  taken(at, [0], ofOther(at));
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
      if (name === 'create') taken(at, [tries++], ofOther(at));
      if (tries === 5) at.signal.abort(reason);
      const call: unknown = Reflect.get(real, name);
      return typeof call === 'function' ? (call.bind(real) as unknown) : call;
    },
  });
  const pass = executeHistory({ ...at.writer(), client }, at.plan(unlisted(at)), at.signal.signal);
  await assert.rejects(pass, (error) => error === reason);
  assert.equal(tries, 5);
});

test('what is refused is no collision, and nothing is asked', async () => {
  for (const status of [403, 409, 422, 500]) {
    const at = scene('a');
    at.faults({ verb: 'create', status });
    await assert.rejects(at.pass(), new RegExp(`^Error: Cannot create ControllerRevision ns/ds-${hashOf(at)}: Cannot POST .* ${status} `));
    assert.equal(at.calls, 1);
  }
});

const situations = [
  { why: 'the first revision', now: 'a', have: '', collide: false, ends: /^ds-\w+#1=a@\w+$/ },
  { why: 'a new revision', now: 'c', have: 'ds-a#1=a ds-b#2=b', collide: false, ends: /^ds-\w+#3=c@\w+ ds-a#1=a@a ds-b#2=b@b$/ },
  { why: 'a rollback', now: 'a', have: 'ds-a#1=a ds-b#2=b', collide: false, ends: /^ds-a#3=a@a ds-b#2=b@b$/ },
  {
    why: 'a collision',
    now: 'a',
    have: '',
    collide: true,
    ends: /^(ds-\w+#2=a@\w+ ds-\w+#1=other@\w+|ds-\w+#1=other@\w+ ds-\w+#2=a@\w+)$/,
  },
];
for (const { why, now, have, collide, ends } of situations) {
  test(`${why}: whichever call fails, and however, the next passes bring it to the same end`, async () => {
    for (const status of [404, 409, 422, 500, 503, 'drop', 'half', 'reset', 'truncate']) {
      for (let after = 0, hit = true; hit; after++) {
        const at = scene(now).with(have);
        if (collide) taken(at, [0], ofOther(at));
        at.faults({ status, after, count: 1 });
        await at.pass().catch(() => {});
        hit = at.calls > after;
        at.faults();
        const { hash, current } = await at.pass();
        assert.match(at.revisions, ends, `${status} at call ${after}`);
        assert.equal(hash, current.metadata.name);
        assert.equal(stepsOf(at.plan()), '');
      }
    }
  });
}

test('truncation keeps what pods carry, and the newest of the others', async () => {
  const at = scene('e').with('ds-a#1=a ds-b#2=b ds-c#3=c ds-d#4=d ds-e#5=e', 'p1@ds-a p2@ds-e');
  const { old, hash } = await at.pass();
  const gone = planTruncation({ old }, new Set(['ds-a', hash]), 1, statefulSetHistory);
  await executeTruncation(at.writer(), gone, at.signal.signal);
  assert.equal(names(gone), 'ds-b ds-c');
  assert.equal(at.revisions, 'ds-a#1=a@a ds-d#4=d@d ds-e#5=e@e');
});

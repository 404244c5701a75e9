import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  daemonSetHistory,
  statefulSetHistory,
  type History,
  type HistoryFacts,
  type Revision,
  wordHash,
} from '../../../../../controllers/common/history/contract.ts';
import { daemonSets, statefulSets } from '../../../../../kube/api/object.ts';
import { stepsOf } from './notation.ts';
import { HistoryScene, ownedBy, type SetKind } from './scene.ts';
import { executeHistory } from '../../../../../controllers/common/history/execute.ts';
import { revisionData } from '../../../../../controllers/common/history/revision.ts';
import { controllerRef } from '../../../../../kube/controller/owners.ts';

/* What holds for the histories of both kinds. */
const kinds: SetKind[] = [
  { resource: daemonSets, rules: daemonSetHistory },
  { resource: statefulSets, rules: statefulSetHistory },
];

for (const kind of kinds) {
  const of = `of a ${kind.resource.kind}`;

  test(`a revision ${of} that the cache does not have is taken when it is ours`, async () => {
    const scene = new HistoryScene('a', kind);
    const before = scene.facts();
    const first = await scene.pass(before);
    assert.deepEqual(await scene.pass(before), first);
    assert.equal(first.collisionCount ?? scene.set.status?.collisionCount, undefined);
    const told = `wrote controllerrevisions ${first.current.metadata.name}`;
    assert.deepEqual(scene.told, [told, told], 'the cache has to come as far');
  });

  test(`a creation ${of} that is refused is no collision, and nothing is asked`, async () => {
    for (const status of [403, 409, 422, 500]) {
      const scene = new HistoryScene('a', kind);
      const { metadata } = scene.plan().current;
      scene.faults({ verb: 'create', status });
      const expected = new RegExp(`^Error: Cannot create ControllerRevision ns/${metadata.name}: Cannot POST .* ${status} `);
      await assert.rejects(scene.pass(), expected);
      assert.equal(scene.calls, 1);
    }
  });

  test(`an orphan ${of} of the same content is taken: it is about to be adopted, and so are the pods that carry its hash`, async () => {
    const scene = new HistoryScene('a', kind);
    const name = scene.take(ownedBy());
    const { current, collisionCount } = await scene.pass();
    assert.equal(current.metadata.name, name);
    assert.equal(collisionCount ?? scene.set.status?.collisionCount, undefined);
  });
}

const [ofDaemonSets, ofStatefulSets] = kinds;
const situations: { why: string; kind: SetKind | undefined; now: string; have: string; pods?: string; collides?: true; ends: RegExp }[] = [
  { why: 'the first revision', kind: ofDaemonSets, now: 'a', have: '', ends: /^ds-[^ ]+#1=a@[^ ]+$/ },
  {
    why: 'a new revision',
    kind: ofDaemonSets,
    now: 'c',
    have: 'ds-a#1=a@- ds-b#2=b',
    pods: 'p1@b',
    ends: /^ds-[4-9b-f]+#3=c@[^ ]+ ds-a#1=a@ds-a ds-b#2=b@b$/,
  },
  { why: 'a rollback', kind: ofDaemonSets, now: 'a', have: 'ds-a#1=a@- ds-b#2=b', pods: 'p1@b', ends: /^ds-a#3=a@ds-a ds-b#2=b@b$/ },
  {
    why: 'duplicates',
    kind: ofDaemonSets,
    now: 'a',
    have: 'ds-a#1=a ds-b#2=b ds-c#1=a ds-d#1=a@-',
    pods: 'p1@a p2@b p3@c p4@ds-d p5@a p6@a',
    ends: /^ds-b#2=b@b ds-d#3=a@ds-d$/,
  },
  { why: 'the first revision', kind: ofStatefulSets, now: 'a', have: '', ends: /^ds-\w+#1=a@\w+$/ },
  {
    why: 'a new revision',
    kind: ofStatefulSets,
    now: 'c',
    have: 'ds-a#1=a ds-b#2=b',
    ends: /^ds-\w+#3=c@\w+ ds-a#1=a@a ds-b#2=b@b$/,
  },
  { why: 'a rollback', kind: ofStatefulSets, now: 'a', have: 'ds-a#1=a ds-b#2=b', ends: /^ds-a#3=a@a ds-b#2=b@b$/ },
  {
    why: 'a collision',
    kind: ofStatefulSets,
    now: 'a',
    have: '',
    collides: true,
    ends: /^(ds-\w+#2=a@\w+ ds-\w+#1=other@\w+|ds-\w+#1=other@\w+ ds-\w+#2=a@\w+)$/,
  },
];
for (const { why, kind, now, have, pods = '', collides, ends } of situations)
  test(`${why} of a ${kind?.resource.kind}: whichever call fails, and however, the next passes bring it to the same end`, async () => {
    for (const status of [404, 409, 422, 500, 503, 'drop', 'half', 'reset', 'truncate'])
      for (let after = 0, hit = true; hit; after++) {
        const scene = new HistoryScene(now, kind).with(have, pods);
        if (collides) scene.take(scene.ofOther);
        scene.faults({ status, after, count: 1 });
        await scene.pass().catch(() => {});
        hit = scene.calls > after;
        scene.faults();
        // What stands in for the cache is up to date again.
        await scene.pass();
        assert.match(scene.revisions, ends, `${status} at call ${after}`);
        assert.equal(stepsOf(scene.plan()), '');
        // Of a pod that is said not to exist nothing is asked any more.
        if (status !== 404) assert.equal(scene.pods, pods.replaceAll(/@(a|c)\b/g, '@ds-d'), `${status} at call ${after}`);
      }
  });

const sceneOf = (image: string): HistoryScene => new HistoryScene(image, { resource: statefulSets, rules: statefulSetHistory });

/** The hash of what the set has now. */
const hashOf = (at: HistoryScene, count?: number): string => wordHash(revisionData(at.set.spec.template), count);

const nameOf = ({ current }: History): string => current.metadata.name ?? '';

/** The facts without the revisions: of a cache that has not seen them. */
const unlisted = (at: HistoryScene): HistoryFacts => ({ ...at.facts(), revisions: [] });

test('the first revision has the name that the field would give it, and is taken from then on', async () => {
  const at = sceneOf('a');
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
    const at = sceneOf('a');
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
  const at = sceneOf('a');
  at.change('set', 'ds', (set) => ({ ...set, status: { ...Object(set['status']), collisionCount: 4 } }));
  at.take(at.ofOther, [4, 5, 6, 7, 8]);
  const made = await at.pass(unlisted(at));
  assert.deepEqual([made.collisionCount, nameOf(made)], [9, `ds-${hashOf(at, 9)}`]);
  assert.equal(made.current.metadata.labels?.['controller.kubernetes.io/hash'], hashOf(at, 4));
});

test('a collision that ends at one of ours with the same content takes that one', async () => {
  const at = sceneOf('a');
  at.take(at.ofOther);
  const before = unlisted(at);
  const first = await at.pass(before);
  assert.deepEqual(await at.pass(before), first);
  assert.deepEqual(at.told, Array(2).fill(`wrote controllerrevisions ds-${hashOf(at, 1)}`));
});

test('a signal ends what collisions go on and on', async () => {
  const at = sceneOf('a');
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

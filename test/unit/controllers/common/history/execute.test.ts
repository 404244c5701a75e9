import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  daemonSetHistory,
  type HistoryFacts,
  type Revision,
  statefulSetHistory,
  safeHash,
} from '../../../../../controllers/common/history/contract.ts';
import { executeHistory, executeTruncation } from '../../../../../controllers/common/history/execute.ts';
import { revisionData } from '../../../../../controllers/common/history/revision.ts';
import { daemonSets, type KubeObject, statefulSets } from '../../../../../kube/api/object.ts';
import { controllerRef } from '../../../../../kube/controller/owners.ts';
import { stepsOf } from './notation.ts';
import { HistoryScene, ownedBy, type SetKind } from './scene.ts';

const ofStatefulSets: SetKind = { resource: statefulSets, rules: statefulSetHistory };
const kinds: SetKind[] = [{ resource: daemonSets, rules: daemonSetHistory }, ofStatefulSets];

/** The same object with other metadata. */
const having =
  (more: KubeObject['metadata']) =>
  (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, ...more } });

for (const kind of kinds) {
  const of = `of a ${kind.resource.kind}`;

  test(`the first revision ${of} is made, and taken from then on, also where the cache does not have it`, async () => {
    const scene = new HistoryScene('a', kind);
    const before = scene.facts();
    const made = await scene.pass(before);
    const { name } = made.current.metadata;
    assert.match(scene.revisions, new RegExp(`^${name}#1=a@\\w+$`));
    assert.equal(made.hash, kind === ofStatefulSets ? name : name?.replace('ds-', ''));
    assert.deepEqual(made.current.metadata.ownerReferences, [controllerRef(scene.set, kind.resource)]);
    assert.deepEqual((await scene.pass()).current.metadata, made.current.metadata);
    assert.deepEqual(await scene.pass(before), made);
    assert.equal(made.collisionCount ?? scene.set.status?.collisionCount, undefined);
    assert.deepEqual(scene.told, Array(2).fill(`wrote controllerrevisions ${name}`), 'the cache has to come as far');
  });

  test(`a creation ${of} that is refused is no collision, and nothing is asked`, async () => {
    for (const status of [409, 500]) {
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

const situations: { why: string; kind?: SetKind; now: string; have: string; pods?: string; collides?: true; ends: RegExp }[] = [
  { why: 'a rollback', now: 'a', have: 'ds-a#1=a@- ds-b#2=b', pods: 'p1@b', ends: /^ds-a#3=a@ds-a ds-b#2=b@b$/ },
  { why: 'duplicates', now: 'a', have: 'ds-a#1=a ds-b#2=b ds-c#1=a ds-d#1=a@-', pods: 'p1@a p2@b p3@c p4@ds-d p5@a p6@a', ends: /^ds-b#2=b@b ds-d#3=a@ds-d$/ }, // prettier-ignore
  { why: 'a new revision', kind: ofStatefulSets, now: 'c', have: 'ds-b#2=b', ends: /^ds-\w+#3=c@\w+ ds-b#2=b@b$/ },
  { why: 'a collision', kind: ofStatefulSets, now: 'a', have: '', collides: true, ends: /^(ds-\w+#2=a@\w+ ds-\w+#1=other@\w+|ds-\w+#1=other@\w+ ds-\w+#2=a@\w+)$/ }, // prettier-ignore
];
for (const { why, kind, now, have, pods = '', collides, ends } of situations)
  test(`${why} of a ${kind?.resource.kind ?? 'DaemonSet'}: whichever call fails, and however, the next passes bring it to the same end`, async () => {
    for (const status of [404, 409, 422, 503, 'drop', 'half', 'truncate'])
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

test('a pod that took the name of one to be relabelled gets no label', async () => {
  const scene = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b');
  const before = scene.facts();
  scene.change('pod', 'p1', having({ uid: 'newer' }));
  await assert.rejects(scene.pass(before), /Cannot relabel Pod ns\/p1: .*409/);
  assert.equal(scene.pods, 'p1@b');
});

const stale: { why: string; change: (one: KubeObject) => KubeObject; ends: string | RegExp }[] = [
  { why: 'changed by others', change: having({ annotations: { a: '' } }), ends: '3' },
  { why: 'given a higher number by others', change: (one) => ({ ...one, revision: 7 }), ends: '7' },
  { why: 'made again', change: having({ uid: 'newer' }), ends: /another object/ },
  { why: 'orphaned', change: having({ ownerReferences: [] }), ends: /another object/ },
];
for (const { why, change, ends } of stale)
  test(`a revision that was ${why} is renumbered as it is now, if it is still the set's`, async () => {
    const scene = new HistoryScene('a').with('ds-a#1=a ds-b#2=b');
    const facts = scene.facts();
    scene.change('revision', 'ds-a', change);
    if (typeof ends === 'string') assert.equal(String((await scene.pass(facts)).current.revision), ends);
    else await assert.rejects(scene.pass(facts), ends);
    assert.equal(scene.told.length, ends === '3' ? 1 : 0);
  });

test('a label that others gave meanwhile stays', async () => {
  const scene = new HistoryScene('a').with('ds-a#1=a@-');
  const facts = scene.facts();
  scene.change('revision', 'ds-a', having({ labels: { 'controller-revision-hash': 'theirs' } }));
  assert.equal((await scene.pass(facts)).hash, 'theirs');
  assert.equal(scene.revisions, 'ds-a#1=a@theirs');
});

const collisions: { why: string; change: (scene: HistoryScene) => (revision: Revision) => Revision }[] = [
  { why: 'one of ours with other data', change: (scene) => scene.ofOther },
  { why: 'one of another owner', change: (scene) => ownedBy({ ...controllerRef(scene.set, daemonSets), uid: 'another' }) },
  { why: 'an orphan with other data', change: (scene) => (revision) => ownedBy()(scene.ofOther(revision)) },
];
for (const { why, change } of collisions) {
  test(`a name that ${why} has is a collision of a DaemonSet: counted, and another name is taken`, async () => {
    const scene = new HistoryScene('a');
    const name = scene.take(change(scene));
    const there = scene.revisions;
    await assert.rejects(scene.pass(), new RegExp(`^Error: Cannot create ControllerRevision ns/${name}: .*AlreadyExists`));
    assert.deepEqual([scene.set.status?.collisionCount, scene.told, scene.revisions], [1, ['wrote daemonsets ds'], there]);
    const { current } = await scene.pass();
    assert.notEqual(current.metadata.name, name);
    assert.ok(scene.revisions.includes(there));
  });

  test(`a name that ${why} has is a collision of a StatefulSet: the next is tried at once, the label keeps the first hash`, async () => {
    const scene = new HistoryScene('a', ofStatefulSets);
    scene.take(change(scene));
    const there = scene.revisions;
    const { hash, collisionCount } = await scene.pass(unlisted(scene));
    assert.deepEqual([collisionCount, hash], [1, `ds-${hashOf(scene, 1)}`]);
    assert.deepEqual(scene.revisions.split(' ').toSorted(), [there, `ds-${hashOf(scene, 1)}#1=a@${hashOf(scene)}`].toSorted());
    assert.equal(scene.set.status?.collisionCount, undefined, 'the status is the caller’s');
  });
}

/** The hash of what the set has now. */
const hashOf = (at: HistoryScene, count?: number): string => safeHash(revisionData(at.set.spec.template), count);

/** The facts without the revisions: of a cache that has not seen them. */
const unlisted = (at: HistoryScene): HistoryFacts => ({ ...at.facts(), revisions: [] });

test('collisions are counted on from the status, as many as there are', async () => {
  const at = new HistoryScene('a', ofStatefulSets);
  at.change('set', 'ds', (set) => ({ ...set, status: { ...Object(set['status']), collisionCount: 4 } }));
  at.take(at.ofOther, [4, 5, 6, 7, 8]);
  const made = await at.pass(unlisted(at));
  assert.deepEqual([made.collisionCount, made.current.metadata.name], [9, `ds-${hashOf(at, 9)}`]);
  assert.equal(made.current.metadata.labels?.['controller.kubernetes.io/hash'], hashOf(at, 4));
});

test('a count that the cache is behind with is no collision, and an owner that was made again counts nothing for the one before', async () => {
  const scene = new HistoryScene('a');
  scene.take(scene.ofOther);
  const before = scene.facts();
  await assert.rejects(scene.pass(before));
  await assert.rejects(scene.pass(before), /found a stale collision count \(none, the server has 1\) of DaemonSet ns\/ds/);
  scene.change('set', 'ds', having({ uid: 'newer' }));
  await assert.rejects(scene.pass(before), /original DaemonSet ns\/ds is gone: got uid newer/);
  assert.equal(scene.set.status?.collisionCount, 1);
});

for (const fault of [
  { verb: 'get', resource: 'controllerrevisions' },
  { verb: 'get', resource: 'daemonsets' },
  { verb: 'update', resource: 'daemonsets/status' },
])
  test(`a collision that cannot be looked into (${fault.verb} ${fault.resource}) comes again`, async () => {
    for (const status of [404, 409, 'half']) {
      const scene = new HistoryScene('a');
      scene.take(scene.ofOther);
      scene.faults({ ...fault, status });
      await assert.rejects(scene.pass(), /^Error: Cannot create ControllerRevision/);
      scene.faults();
      for (let tries = 0; tries < 3; tries++) await scene.pass().catch(() => {});
      assert.equal(scene.set.status?.collisionCount, 1, `${fault.verb} ${status}`);
    }
  });

const reason = new Error('the lease is lost');

test('a call that hangs ends with the signal, and its reason is what is thrown', async () => {
  for (const have of ['', 'ds-a#1=a ds-b#2=b', 'ds-a#1=a ds-b#2=a']) {
    const scene = new HistoryScene('a').with(have, 'p1@a');
    scene.faults({ status: 'hang' });
    const pass = scene.pass();
    setImmediate(() => scene.signal.abort(reason));
    await assert.rejects(pass, (error) => error === reason);
    assert.deepEqual(scene.told, []);
  }
});

test('nothing is begun after the signal', async () => {
  const scene = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b p2@b p3@b');
  const writer = { ...scene.writer(), wrote: () => scene.signal.abort(reason) };
  await assert.rejects(executeHistory(writer, scene.plan(), scene.signal.signal), (error) => error === reason);
  assert.equal(scene.pods, 'p1@c p2@b p3@b');
});

test('truncation deletes what it is given, what is gone is done, and what was made again under the name is left alone', async () => {
  const scene = new HistoryScene('z').with('ds-a#1=a ds-b#2=b ds-c#3=c');
  const { revisions } = scene.facts();
  scene.api.hooks.storage.remove('apps/controllerrevisions', 'ns/ds-a');
  scene.change('revision', 'ds-c', having({ uid: 'newer' }));
  const truncated = executeTruncation(scene.writer(), revisions, scene.signal.signal);
  await assert.rejects(truncated, /^Error: Cannot delete ControllerRevision ns\/ds-c: .*409/);
  assert.equal(scene.revisions, 'ds-c#3=c@c');
  assert.deepEqual(scene.told, ['deleted controllerrevisions ds-a', 'deleted controllerrevisions ds-b']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executeHistory, executeTruncation } from '../../../../../controllers/common/history/execute.ts';
import { contentHash, type Revision, statefulSetHistory } from '../../../../../controllers/common/history/contract.ts';
import { planHistory } from '../../../../../controllers/common/history/plan.ts';
import { newRevision } from '../../../../../controllers/common/history/revision.ts';
import { daemonSets, type KubeObject } from '../../../../../kube/api/object.ts';
import { isAlreadyExists } from '../../../../../kube/client/errors.ts';
import { controllerRef } from '../../../../../kube/controller/owners.ts';
import { stepsOf } from './notation.ts';
import { HistoryScene, ownedBy } from './scene.ts';

/** What the set's present revision is called. */
function expected(scene: HistoryScene): { name: string; hash: string } {
  const { owner, ...facts } = scene.facts();
  const made = newRevision(owner, daemonSets, facts, 1);
  return { name: made.metadata.name ?? '', hash: contentHash(made.data, facts.collisionCount) };
}

const causes = (check: (cause: unknown) => boolean, message: RegExp) => (error: unknown) =>
  error instanceof Error && message.test(error.message) && check(error.cause);

test('the first revision is made, and taken from then on', async () => {
  const scene = new HistoryScene('a');
  const { name, hash } = expected(scene);
  const made = await scene.pass();
  assert.equal(scene.revisions, `${name}#1=a@${hash}`);
  assert.deepEqual(scene.told, [`wrote controllerrevisions ${name}`]);
  assert.equal(made.hash, hash);
  assert.notEqual(made.current.metadata.uid, undefined);
  assert.deepEqual((await scene.pass()).current.metadata, made.current.metadata);
  assert.equal(scene.told.length, 1);
});

test('labels and numbers come to one revision one after the other', async () => {
  const scene = new HistoryScene('a').with('ds-a#1=a@- ds-b#2=b@-');
  const { hash, current, old } = await scene.pass();
  assert.equal(scene.revisions, 'ds-a#3=a@ds-a ds-b#2=b@ds-b');
  assert.equal(hash, 'ds-a');
  assert.deepEqual(
    [current.revision, current.metadata.labels?.['app'], old.map(({ metadata }) => metadata.labels)],
    [3, 'x', [{ app: 'x', 'controller-revision-hash': 'ds-b' }]],
  );
  assert.equal(stepsOf(planHistory(scene.facts(), daemonSets)), '');
});

test('duplicates become one, with their pods', async () => {
  const scene = new HistoryScene('b').with('ds-a#1=a ds-b#2=b ds-c#3=b', 'p1@a p2@b p3@c p4@b');
  await scene.pass();
  assert.equal(scene.revisions, 'ds-a#1=a@a ds-c#3=b@c');
  assert.equal(scene.pods, 'p1@a p2@c p3@c p4@c');
  assert.deepEqual(scene.told, ['wrote pods p2', 'wrote pods p4', 'deleted controllerrevisions ds-b']);
});

test('a duplicate stays as long as a pod of it could not be relabelled', async () => {
  const scene = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b p2@b');
  scene.faults({ verb: 'patch', resource: 'pods', name: 'p2', status: 500 });
  await assert.rejects(scene.pass(), /^Error: Cannot relabel Pod ns\/p2: .*500/);
  assert.equal(scene.revisions, 'ds-b#2=b@b ds-c#3=b@c');
  assert.equal(scene.pods, 'p1@c p2@b');
});

test('a pod that is gone needs no label, and one that took its name gets none', async () => {
  const scene = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b p2@b');
  const facts = scene.facts();
  scene.remove('pod', 'p1');
  await scene.pass(facts);
  assert.equal(scene.revisions, 'ds-c#3=b@c');
  const again = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b');
  const before = again.facts();
  again.change('pod', 'p1', (pod) => ({ ...pod, metadata: { ...pod.metadata, uid: 'newer' } }));
  await assert.rejects(again.pass(before), /Cannot relabel Pod ns\/p1: .*409/);
  assert.equal(again.pods, 'p1@b');
});

const stale = [
  { why: 'changed by others', to: { labels: { app: 'x', note: 'mine' } }, ends: { number: 3, note: 'mine' } },
  { why: 'given a higher number by others', to: { revision: 7 }, ends: { number: 7, note: undefined } },
];
for (const { why, to, ends } of stale) {
  test(`a revision that was ${why} is renumbered as it is now`, async () => {
    const scene = new HistoryScene('a').with('ds-a#1=a ds-b#2=b');
    const facts = scene.facts();
    scene.change('revision', 'ds-a', ({ metadata, ...rest }) => ({
      ...rest,
      ...('revision' in to ? { revision: to.revision } : {}),
      metadata: { ...metadata, ...('labels' in to ? { labels: { ...metadata.labels, ...to.labels } } : {}) },
    }));
    const { current } = await scene.pass(facts);
    assert.deepEqual({ number: current.revision, note: current.metadata.labels?.['note'] }, ends);
    assert.equal(scene.told.length, 'revision' in to ? 0 : 1);
  });
}

test('a label that others gave meanwhile stays', async () => {
  const scene = new HistoryScene('a').with('ds-a#1=a@-');
  const facts = scene.facts();
  scene.change('revision', 'ds-a', ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, labels: { 'controller-revision-hash': 'theirs' } },
  }));
  assert.equal((await scene.pass(facts)).hash, 'theirs');
  assert.equal(scene.revisions, 'ds-a#1=a@theirs');
});

const lost: { why: string; to: (metadata: KubeObject['metadata']) => KubeObject['metadata'] }[] = [
  { why: 'was made again', to: (metadata) => ({ ...metadata, uid: 'newer' }) },
  { why: 'has another owner', to: (metadata) => ({ ...metadata, ownerReferences: [] }) },
];
for (const { why, to } of lost) {
  test(`a revision that ${why} is not renumbered`, async () => {
    const scene = new HistoryScene('a').with('ds-a#1=a ds-b#2=b');
    const facts = scene.facts();
    scene.change('revision', 'ds-a', (object) => ({ ...object, metadata: to(object.metadata) }));
    await assert.rejects(scene.pass(facts), /^Error: Cannot renumber ControllerRevision ns\/ds-a: another object has its name/);
    assert.equal(scene.revisions, 'ds-a#1=a@a ds-b#2=b@b');
  });
}

test('a revision that others change again and again is given up until the next pass', async () => {
  const scene = new HistoryScene('a').with('ds-a#1=a ds-b#2=b');
  scene.faults({ verb: 'patch', resource: 'controllerrevisions', status: 409, count: 2 });
  await assert.rejects(scene.pass(), /Cannot renumber ControllerRevision ns\/ds-a: .*409/);
  scene.faults({ verb: 'patch', resource: 'controllerrevisions', status: 409, count: 1 });
  await scene.pass();
  assert.equal(scene.revisions, 'ds-a#3=a@a ds-b#2=b@b');
});

const collisions: { why: string; change: (scene: HistoryScene) => (revision: Revision) => Revision }[] = [
  { why: 'one of ours with other data', change: (scene) => scene.ofOther },
  { why: 'one of another owner', change: (scene) => ownedBy({ ...controllerRef(scene.set, daemonSets), uid: 'another' }) },
  { why: 'an orphan with other data', change: (scene) => (revision) => ownedBy()(scene.ofOther(revision)) },
];
for (const { why, change } of collisions) {
  test(`a name that ${why} has is a collision: counted, and another name is taken`, async () => {
    const scene = new HistoryScene('a');
    const name = scene.take(change(scene));
    const there = scene.revisions;
    await assert.rejects(
      scene.pass(),
      causes(isAlreadyExists, new RegExp(`^Cannot create ControllerRevision ns/${name}: .*AlreadyExists`)),
    );
    assert.equal(scene.set.status?.collisionCount, 1);
    assert.deepEqual(scene.told, ['wrote daemonsets ds']);
    assert.equal(scene.revisions, there);
    const { current, hash } = await scene.pass();
    assert.notEqual(current.metadata.name, name);
    assert.equal(hash, expected(scene).hash);
    assert.ok(scene.revisions.includes(there));
    assert.equal(scene.set.status?.collisionCount, 1);
  });
}

test('collisions are counted on, and what else is in the status stays', async () => {
  const scene = new HistoryScene('a');
  scene.change('set', 'ds', (set) => ({ ...set, status: { ...Object(set['status']), collisionCount: 4, numberReady: 7 } }));
  scene.take(scene.ofOther);
  await assert.rejects(scene.pass());
  assert.deepEqual([scene.set.status?.collisionCount, Object(scene.set.status).numberReady, scene.set.metadata.generation], [5, 7, 1]);
});

test('a count that the cache is behind with is no collision', async () => {
  const scene = new HistoryScene('a');
  scene.take(scene.ofOther);
  const before = scene.facts();
  await assert.rejects(scene.pass(before));
  await assert.rejects(scene.pass(before), /found a stale collision count \(none, the server has 1\) of DaemonSet ns\/ds/);
  assert.equal(scene.set.status?.collisionCount, 1);
  await scene.pass();
});

test('an owner that was made again counts nothing for the one before', async () => {
  const scene = new HistoryScene('a');
  scene.take(scene.ofOther);
  const before = scene.facts();
  scene.change('set', 'ds', (set) => ({ ...set, metadata: { ...set.metadata, uid: 'newer' } }));
  await assert.rejects(scene.pass(before), /original DaemonSet ns\/ds is gone: got uid newer/);
  assert.equal(scene.set.status?.collisionCount, undefined);
});

const cut = [
  { verb: 'get', resource: 'controllerrevisions' },
  { verb: 'get', resource: 'daemonsets' },
  { verb: 'update', resource: 'daemonsets/status' },
];
for (const fault of cut) {
  test(`a collision that cannot be looked into (${fault.verb} ${fault.resource}) comes again`, async () => {
    for (const status of [404, 409, 500, 'drop', 'half']) {
      const scene = new HistoryScene('a');
      const name = scene.take(scene.ofOther);
      scene.faults({ ...fault, status });
      await assert.rejects(scene.pass(), new RegExp(`^Error: Cannot create ControllerRevision ns/${name}: `));
      scene.faults();
      for (let tries = 0; tries < 3; tries++) await scene.pass().catch(() => {});
      assert.equal(scene.set.status?.collisionCount, 1, `${fault.verb} ${status}`);
      assert.equal(stepsOf(planHistory(scene.facts(), daemonSets)), '');
    }
  });
}

test('a call that hangs ends with the signal, and its reason is what is thrown', async () => {
  for (const have of ['', 'ds-a#1=a ds-b#2=b', 'ds-a#1=a@-', 'ds-a#1=a ds-b#2=a']) {
    const scene = new HistoryScene('a').with(have, 'p1@a');
    scene.faults({ status: 'hang' });
    const reason = new Error('the lease is lost');
    const pass = scene.pass();
    setImmediate(() => scene.signal.abort(reason));
    await assert.rejects(pass, (error) => error === reason);
    assert.deepEqual(scene.told, []);
  }
});

test('nothing is begun after the signal', async () => {
  const scene = new HistoryScene('b').with('ds-b#2=b ds-c#3=b', 'p1@b p2@b p3@b');
  const reason = new Error('the lease is lost');
  const writer = { ...scene.writer(), wrote: () => scene.signal.abort(reason) };
  await assert.rejects(executeHistory(writer, planHistory(scene.facts(), daemonSets), scene.signal.signal), (error) => error === reason);
  assert.equal(scene.calls, 1);
  assert.equal(scene.pods, 'p1@c p2@b p3@b');
});

test('truncation deletes what it is given, and what is gone is done', async () => {
  const scene = new HistoryScene('z').with('ds-a#1=a ds-b#2=b ds-c#3=c');
  const { revisions } = scene.facts();
  scene.remove('revision', 'ds-a');
  await executeTruncation(scene.writer(), revisions.slice(0, 2), scene.signal.signal);
  assert.equal(scene.revisions, 'ds-c#3=c@c');
  assert.deepEqual(scene.told, ['deleted controllerrevisions ds-a', 'deleted controllerrevisions ds-b']);
});

test('truncation leaves alone what was made again under the name', async () => {
  const scene = new HistoryScene('z').with('ds-a#1=a ds-b#2=b');
  const { revisions } = scene.facts();
  scene.change('revision', 'ds-a', (object) => ({ ...object, metadata: { ...object.metadata, uid: 'newer' } }));
  await assert.rejects(
    executeTruncation(scene.writer(), revisions, scene.signal.signal),
    causes((cause) => cause instanceof Error && 'code' in cause && cause.code === 409, /^Cannot delete ControllerRevision ns\/ds-a: /),
  );
  assert.equal(scene.revisions, 'ds-a#1=a@a ds-b#2=b@b');
  assert.deepEqual(scene.told, []);
});

test('pods of a StatefulSet are to carry the name that the server has', async () => {
  const scene = new HistoryScene('a');
  const plan = planHistory(scene.facts(), daemonSets, statefulSetHistory);
  const { hash, current } = await executeHistory(scene.writer(), plan, scene.signal.signal);
  assert.equal(hash, current.metadata.name);
});

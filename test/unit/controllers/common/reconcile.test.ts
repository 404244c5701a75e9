import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earliest } from '../../../../controllers/common/reconcile.ts';
import { done } from '../../../../kube/controller/controller.ts';
import { BY_OWNER, byOwner, ownedOrOrphaned } from '../../../../controllers/common/cached-objects.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';

test('of several times a set is looked at again at the first', () => {
  const at = (requeueAfter: number) => ({ requeueAfter, why: `in ${requeueAfter} ms` });
  assert.deepEqual(earliest([at(30), at(10), at(20)]), at(10));
  assert.deepEqual(earliest([]), done);
});

const revision = (name: string, namespace: string, owner?: { kind: string; uid: string }): KubeObject => ({
  metadata: {
    name,
    namespace,
    ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', name: 'web', controller: true, ...owner }] }),
  },
});

test('an owner finds what it has, and orphans of its namespace alone', () => {
  const store = new IndexedStore<KubeObject>();
  store.index(BY_OWNER, byOwner);
  const of = (kind: string, uid: string) => ({ kind, uid });
  for (const object of [
    revision('own', 'a', of('StatefulSet', 'set')),
    revision('theirs', 'a', of('StatefulSet', 'another')),
    revision('orphan', 'a'),
    revision('elsewhere', 'b'),
  ])
    store.put(object);
  const found = (uid: string, namespace: string) =>
    ownedOrOrphaned(store, { metadata: { name: 'web', namespace, uid } }).map(({ metadata }) => metadata.name);
  assert.deepEqual(found('set', 'a'), ['own', 'orphan']);
  assert.deepEqual(found('set', 'b'), ['own', 'elsewhere']);
  assert.deepEqual(found('unknown', 'a'), ['orphan']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dependents } from '../../../apiserver/gc/plan.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

const owned = (name: string, ...owners: string[]): KubeObject => ({
  metadata: { name, ownerReferences: owners.map((uid) => ({ apiVersion: 'v1', kind: 'Node', name: uid, uid })) },
});

test('dependents are known by their owners’ uids, for as long as they name them', () => {
  const dependents = new Dependents();
  const [first, second] = [owned('a', 'x', 'y'), owned('a', 'y')];
  const keys = (uid: string) => dependents.of(uid).map(({ kind, key }) => `${kind} ${key}`);
  dependents.apply('/pods', { type: 'ADDED', version: 1, key: 'ns/a', object: first, previous: undefined });
  dependents.apply('/secrets', { type: 'ADDED', version: 2, key: 'ns/a', object: second, previous: undefined });
  assert.deepEqual([keys('x'), keys('y')], [['/pods ns/a'], ['/pods ns/a', '/secrets ns/a']]);
  dependents.apply('/pods', { type: 'MODIFIED', version: 3, key: 'ns/a', object: second, previous: first });
  assert.deepEqual([keys('x'), keys('y').toSorted()], [[], ['/pods ns/a', '/secrets ns/a']]);
  dependents.apply('/pods', { type: 'DELETED', version: 4, key: 'ns/a', object: second, previous: second });
  dependents.apply('/secrets', { type: 'DELETED', version: 5, key: 'ns/a', object: second, previous: second });
  assert.deepEqual([keys('x'), keys('y')], [[], []]);
});

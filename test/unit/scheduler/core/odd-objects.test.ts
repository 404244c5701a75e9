import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

const own = { schedulerName: 'default-scheduler', containers: [{ name: 'c', image: 'i' }] };
const placed = { ...own, nodeName: 'a' };
const preferring = (term: unknown) => ({ preferredDuringSchedulingIgnoredDuringExecution: [term] });
const list = (term: unknown) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term] });

/** No typed server sends them. */
const row = (what: string, kind: string, key: string, object: object, { waits = false } = {}) => ({ what, kind, key, object, waits });
const waiting = (what: string, spec: object, waits: boolean, status: object = {}) =>
  row(`a pod that waits, ${what}`, '/pods', 'default/odd', { spec: { ...own, ...spec }, status }, { waits });
const odd = [
  waiting('with a term that is null', { affinity: { podAffinity: list(null) } }, true),
  waiting('with preferred nodes that are null', { affinity: { nodeAffinity: preferring(null) } }, true),
  waiting('with containers that are null', { containers: null }, true),
  waiting('with conditions that are null', { nodeSelector: { no: 'node' } }, false, { phase: 'Pending', conditions: [null] }),
  row('a pod on a node, with a term that is null', '/pods', 'default/odd', {
    spec: { ...placed, affinity: { podAntiAffinity: list(null) } },
  }),
  row('a node with taints that are null', '/nodes', 'odd', { spec: { taints: [null] } }),
  row('a node with images that are no list', '/nodes', 'odd', { status: { images: 7, allocatable: { pods: 5 } } }),
  row('a budget with an odd selector', 'policy/poddisruptionbudgets', 'default/odd', { spec: { selector: { matchExpressions: [null] } } }),
  row('a volume with claims that are odd', '/persistentvolumes', 'odd', { spec: { claimRef: 7, nodeAffinity: 3, accessModes: 1 } }),
  row('a claim without a spec', '/persistentvolumeclaims', 'default/odd', { spec: null }),
  row('a storage class with topologies that are odd', 'storage.k8s.io/storageclasses', 'odd', { allowedTopologies: [null] }),
  row('a CSINode with drivers that are odd', 'storage.k8s.io/csinodes', 'a', { spec: { drivers: [null] } }),
  row('a StatefulSet without anything', 'apps/statefulsets', 'default/odd', { spec: { selector: 3, template: null } }),
  row('a ControllerRevision of nobody', 'apps/controllerrevisions', 'default/odd', { revision: 'x' }),
  row('a namespace with labels that are null', '/namespaces', 'odd', { metadata: { labels: null } }),
];

const kinds: Record<string, string> = {
  '/pods': 'Pod',
  '/nodes': 'Node',
  '/namespaces': 'Namespace',
  '/persistentvolumes': 'PersistentVolume',
  '/persistentvolumeclaims': 'PersistentVolumeClaim',
  'policy/poddisruptionbudgets': 'PodDisruptionBudget',
  'storage.k8s.io/storageclasses': 'StorageClass',
  'storage.k8s.io/csinodes': 'CSINode',
  'apps/statefulsets': 'StatefulSet',
  'apps/controllerrevisions': 'ControllerRevision',
};

function objectOf(kind: string, key: string, more: object, revision: number): KubeObject {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  const { metadata, ...rest } = more as { metadata?: object };
  const [group] = kind.split('/');
  const where = namespace === undefined ? {} : { namespace };
  const own = { labels: { revision: `${revision}` }, ...where, name, uid: `odd-${key}`, ...metadata };
  return { apiVersion: group === '' ? 'v1' : `${group}/v1`, kind: kinds[kind] ?? '', metadata: own, ...rest };
}

for (const { what, kind, key, object, waits } of odd)
  test(`beside ${what} pods are placed, when it comes, changes and goes`, async (t) => {
    const { world, stage, scheduler, nodeOf } = await scene(t, ['a', 'b']);
    const { storage } = world.api.hooks;
    for (const revision of [1, 2]) {
      storage.put(kind, key, objectOf(kind, key, object, revision));
      stage.add(pod(`beside-${revision}`).cpu('1'));
      await stage.pass(3_000);
    }
    const pending = world.parts?.queue.find(`odd-${key}`);
    if (waits) assert.deepEqual([pending?.pool, pending?.queued.errors !== 0], ['backoff', true]);
    storage.remove(kind, key);
    stage.add(pod('after').cpu('1').priority(5));
    await stage.pass(5_000);
    for (const name of ['beside-1', 'beside-2', 'after'])
      assert.notEqual(nodeOf(name), '', `${name} has no place: ${scheduler.failures().join('\n')}`);
    assert.equal(scheduler.ready, true);
    if (kind === '/nodes') assert.match(scheduler.failures().join(), /failed to process an object/);
    assert.ok(scheduler.failures().length < 20, `${scheduler.failures().length} lines in the log`);
    assert.equal(world.parts?.queue.find(`odd-${key}`), undefined);
    assert.equal(world.parts?.cluster.placed(`odd-${key}`), undefined);
  });

test('a pod of which nothing can be read takes nothing and is who it is', () => {
  const metadata = { namespace: 'default', name: 'odd', uid: 'u', ownerReferences: [null] };
  const info = podInfoOf({ ...pod('odd').build(), metadata, spec: { ...own, nodeName: 'a' } } as unknown as Pod);
  assert.deepEqual([info.key, info.uid, info.nodeName, info.requests.cpu], ['default/odd', 'u', 'a', 0]);
  assert.match(info.unreadable ?? '', /null/);
});

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { coreEvents, type KubeObject, persistentVolumeClaims, pods, statefulSets } from '../../../../kube/api/object.ts';
import { TransportError } from '../../../../kube/client/errors.ts';
import type { SimWorld } from '../../../support/simulated/sim-world.ts';
import { claimsOf, simWorld, statefulSet } from './simulated/world.ts';

/** @param before - what others do just before the controller's call is made. @param endMs - from the mark of deletion of a pod to its end */
async function scene(t: TestContext, before: (world: SimWorld, what: string) => void, endMs = 500): Promise<SimWorld> {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => endMs });
  t.after(() => world.stop());
  world.addNodes('a');
  const process = world.start({
    call: async ({ verb, resource }, pass) => {
      before(world, `${verb} ${resource}`);
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  return world;
}

test('a label that somebody else changes at the same time is left alone by a repair', async (t) => {
  const world = await scene(t, ({ api }, what) => {
    const { storage } = api.hooks;
    const pod = storage.get('/pods', 'default/web-0');
    if (what !== 'patch pods' || pod === undefined) return;
    const labels = { ...pod.metadata.labels, role: 'replica' };
    storage.put('/pods', 'default/web-0', { ...pod, metadata: { ...pod.metadata, labels } });
  });
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const labels = { role: 'primary', 'statefulset.kubernetes.io/pod-name': null };
  await world.user.patch(pods, { name: 'web-0', namespace: 'default' }, { metadata: { labels } }, { type: 'merge' });
  await world.clock.advance(10_000);
  const now = world.api.hooks.storage.get('/pods', 'default/web-0')?.metadata.labels;
  assert.equal(now?.['statefulset.kubernetes.io/pod-name'], 'web-0');
  assert.equal(now?.['role'], 'replica');
});

test('a name that a pod of a former set had is taken as soon as it is free', async (t) => {
  const world = await scene(t, () => {}, 90_000);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const uids = (): (string | undefined)[] => world.pods().map(({ metadata }) => metadata.uid);
  const former = uids();
  await world.user.delete(statefulSets, { name: 'web', namespace: 'default' });
  await world.clock.advance(1_000);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(80_000);
  assert.deepEqual(uids(), former);
  await world.clock.advance(15_000);
  assert.equal(uids().length, 1);
  assert.notDeepEqual(uids(), former);
});

test('claims grow when their class is allowed to let them', async (t) => {
  const world = await scene(t, () => {});
  const { storage } = world.api.hooks;
  const spec = (size: string) => ({
    storageClassName: 'fast',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: size } },
  });
  world.api.add({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' }, provisioner: 'test' });
  const metadata = { name: 'data-web-0', namespace: 'default' };
  world.api.add({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { ...spec('1Gi'), volumeName: 'v' } });
  change(storage, '/persistentvolumeclaims', 'default/data-web-0', { status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: spec('2Gi') }];
  world.api.add(statefulSet('web', { replicas: 1, volumeClaimTemplates }, { 'dkc.dev/expand-claims': 'true' }));
  await world.clock.advance(10_000);
  const size = (): string | undefined => claimsOf(world)[0]?.spec?.resources?.requests?.['storage'];
  assert.equal(size(), '1Gi');
  change(storage, 'storage.k8s.io/storageclasses', 'fast', { allowVolumeExpansion: true });
  await world.clock.advance(10_000);
  assert.equal(size(), '2Gi');
});

test('no pod is made on a claim that is being deleted, and one is once it is gone', async (t) => {
  const world = await scene(t, () => {});
  const ref = { name: 'data-web-0', namespace: 'default' };
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const metadata = { ...ref, finalizers: ['kubernetes.io/pvc-protection'] };
  world.api.add({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec });
  await world.user.delete(persistentVolumeClaims, ref);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  assert.deepEqual(world.pods(), []);
  await world.user.patch(persistentVolumeClaims, ref, { metadata: { finalizers: null } }, { type: 'merge' });
  await world.clock.advance(60_000);
  assert.equal(world.pods().length, 1);
});

test('a pod that goes by itself while it is being deleted holds no rollout up', async (t) => {
  const world = await scene(t, ({ api }, what) => {
    if (what === 'delete pods') api.hooks.storage.remove('/pods', 'default/web-0');
  });
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(statefulSets, { name: 'web', namespace: 'default' }, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(10_000);
  const { items } = await world.user.list(coreEvents);
  assert.deepEqual(new Set(items.map((event) => event['reason'])), new Set(['SuccessfulCreate', 'SuccessfulDelete']));
  assert.equal(world.pods()[0]?.spec?.containers[0]?.image, 'v2');
});

test('a pod whose creation was answered by nobody is looked for, and not made again before the cache shows it', async (t) => {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => 500 });
  t.after(() => world.stop());
  world.addNodes('a');
  const calls: string[] = [];
  const process = world.start({
    call: async ({ verb, resource }, pass) => {
      const what = `${verb} ${resource}`;
      if (resource === 'pods' && verb !== 'list') calls.push(what);
      const answer = await pass();
      if (what === 'create pods')
        throw new TransportError({ method: 'POST', path: '/pods', host: 'server' }, 'cut', { hint: 'nobody answered' });
      return answer;
    },
    watch: async function* late({ resource }, pass) {
      for await (const event of pass()) {
        if (resource === 'pods') await world.clock.sleep(20_000);
        yield event;
      }
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(15_000);
  assert.deepEqual(calls, ['create pods', 'get pods']);
});

function change(storage: SimWorld['api']['hooks']['storage'], kind: string, key: string, fields: Partial<KubeObject>): void {
  const object = storage.get(kind, key);
  assert.ok(object);
  storage.put(kind, key, { ...object, ...fields });
}

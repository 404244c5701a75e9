import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Pod } from '../../../../controllers/common/types.ts';
import { coreEvents, persistentVolumeClaims, pods, statefulSets } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import type { SimWorld } from '../../../support/simulated/sim-world.ts';
import { claimTemplate } from './objects.ts';
import { claimsOf, setsOf, simWorld, statefulSet } from './simulated/world.ts';

/** @param by - comes between the controller and the server. @param endMs - from the mark of deletion of a pod to its end */
async function scene(t: TestContext, by: (world: SimWorld) => Interceptor, endMs = 500): Promise<SimWorld> {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => endMs });
  t.after(() => world.stop());
  world.addNodes('a');
  const process = world.start(by(world));
  await world.until(() => process.ready, 10_000);
  return world;
}

/** @param before - what others do just before the controller's call is made */
const beside = (before: (world: SimWorld, what: string, body: unknown) => void) => (world: SimWorld) => ({
  call: async ({ verb, resource, body }: Parameters<Interceptor['call']>[0], pass: () => Promise<unknown>): Promise<unknown> => {
    before(world, `${verb} ${resource}`, body);
    return pass();
  },
});
const nothing = beside(() => {});
const web = { name: 'web', namespace: 'default' };
const forbidden = (message: string): ApiError =>
  new ApiError({ method: 'POST', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message });

test('a label that somebody else changes at the same time is left alone by a repair', async (t) => {
  const others = beside(({ api: { hooks } }, what) => {
    const pod = hooks.storage.get('/pods', 'default/web-0');
    if (what !== 'patch pods' || pod === undefined) return;
    hooks.storage.put('/pods', 'default/web-0', {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, role: 'replica' } },
    });
  });
  const world = await scene(t, others);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const labels = { role: 'primary', 'statefulset.kubernetes.io/pod-name': null };
  await world.user.patch(pods, { ...web, name: 'web-0' }, { metadata: { labels } }, { type: 'merge' });
  await world.clock.advance(10_000);
  const now = world.pods()[0]?.metadata.labels;
  assert.deepEqual([now?.['statefulset.kubernetes.io/pod-name'], now?.['role']], ['web-0', 'replica']);
});

test('a name that a pod of a former set had is taken as soon as it is free', async (t) => {
  const world = await scene(t, nothing, 90_000);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const uids = (): (string | undefined)[] => world.pods().map(({ metadata }) => metadata.uid);
  const former = uids();
  await world.user.delete(statefulSets, web);
  await world.clock.advance(1_000);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(80_000);
  assert.deepEqual(uids(), former);
  await world.clock.advance(15_000);
  assert.equal(uids().length, 1);
  assert.notDeepEqual(uids(), former);
});

test('no pod is made on a claim that is being deleted, and one is once it is gone', async (t) => {
  const world = await scene(t, nothing);
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

test('claims grow when their class is allowed to let them', async (t) => {
  const world = await scene(t, nothing);
  const { storage } = world.api.hooks;
  const of = (storageSize: string) => ({ storageClassName: 'fast', ...claimTemplate('data', storageSize).spec });
  const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
  world.api.add({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' }, provisioner: 'test' });
  const metadata = { name: 'data-web-0', namespace: 'default' };
  const claim = world.api.add({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { ...of('1Gi'), volumeName: 'v' } });
  storage.put('/persistentvolumeclaims', 'default/data-web-0', { ...claim, ...bound });
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: of('2Gi') }];
  world.api.add(statefulSet('web', { replicas: 1, volumeClaimTemplates }, { 'dkc.dev/expand-claims': 'true' }));
  await world.clock.advance(10_000);
  const size = (): string | undefined => claimsOf(world)[0]?.spec?.resources?.requests?.['storage'];
  assert.equal(size(), '1Gi');
  const fast = storage.get('storage.k8s.io/storageclasses', 'fast');
  assert.ok(fast);
  storage.put('storage.k8s.io/storageclasses', 'fast', { ...fast, allowVolumeExpansion: true });
  await world.clock.advance(10_000);
  assert.equal(size(), '2Gi');
});

test('a pod that goes by itself while it is being deleted holds no rollout up', async (t) => {
  const goes = beside(({ api }, what) => {
    if (what === 'delete pods') api.hooks.storage.remove('/pods', 'default/web-0');
  });
  const world = await scene(t, goes);
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(10_000);
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(statefulSets, web, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(10_000);
  const { items } = await world.user.list(coreEvents);
  assert.deepEqual(new Set(items.map((event) => event['reason'])), new Set(['SuccessfulCreate', 'SuccessfulDelete']));
  assert.equal(world.pods()[0]?.spec?.containers[0]?.image, 'v2');
});

test('a pod whose creation was answered by nobody is looked for, and not made again before the cache shows it', async (t) => {
  const calls: string[] = [];
  const world = await scene(t, (at) => ({
    call: async ({ verb, resource }, pass) => {
      if (resource === 'pods' && verb !== 'list') calls.push(`${verb} pods`);
      const answer = await pass();
      if (resource !== 'pods' || verb !== 'create') return answer;
      throw new TransportError({ method: 'POST', path: '/pods', host: 'server' }, 'cut', { hint: 'nobody answered' });
    },
    watch: async function* late({ resource }, pass) {
      for await (const event of pass()) {
        if (resource === 'pods') await at.clock.sleep(20_000);
        yield event;
      }
    },
  }));
  world.api.add(statefulSet('web', { replicas: 1 }));
  await world.clock.advance(15_000);
  assert.deepEqual(calls, ['create pods', 'get pods']);
});

test('a set whose revision is refused says so once, in the words of the server', async (t) => {
  let refused = 0;
  const refusing = beside((_, what) => {
    if (what === 'create controllerrevisions' && ++refused < 9) throw forbidden('exceeded quota: q');
  });
  const world = await scene(t, refusing);
  world.api.add(statefulSet('web', { replicas: 1, volumeClaimTemplates: [] }));
  await world.until(() => world.pods().length === 1, 60_000);
  const told = (await world.user.list(coreEvents)).items.filter((event) => event['reason'] === 'FailedSync');
  assert.deepEqual(
    told.map((event) => `${String(event['count'])} ${String(event['message']).replace(/web-\w+/, 'web-X')}`),
    ['1 The set is not synced: Cannot create ControllerRevision default/web-X: exceeded quota: q'],
  );
});

test('a Parallel set whose first ordinal moves under a quota of pods as large as itself gets there', async (t) => {
  const full = beside((at, what) => {
    if (what === 'create pods' && at.pods().length >= 3) throw forbidden('exceeded quota: q');
  });
  const world = await scene(t, full);
  world.api.add(statefulSet('web', { podManagementPolicy: 'Parallel', volumeClaimTemplates: [] }));
  await world.until(() => world.pods().length === 3, 60_000);
  await world.user.patch(statefulSets, web, { spec: { ordinals: { start: 3 } } }, { type: 'merge' });
  const names = (): Set<string | undefined> => new Set(world.pods().map(({ metadata }) => metadata.name));
  await world.until(() => names().has('web-3') && names().has('web-4') && names().has('web-5'), 60_000);
  assert.deepEqual(names(), new Set(['web-3', 'web-4', 'web-5']));
});

test('a pod whose labels a webhook takes away has those that the set needs back, and is not replaced without end', async (t) => {
  let made = 0;
  const webhook = beside((_, what, body) => {
    if (what !== 'create pods') return;
    made += 1;
    (body as Pod).metadata.labels = { by: 'webhook' };
  });
  const world = await scene(t, webhook);
  world.api.add(statefulSet('web', { volumeClaimTemplates: [] }));
  await world.clock.advance(60_000);
  assert.deepEqual([made, setsOf(world)[0]?.status?.currentReplicas, setsOf(world)[0]?.status?.availableReplicas], [3, 3, 3]);
  assert.deepEqual(
    new Set(world.pods().map(({ metadata: { labels } }) => `${labels?.['by']} ${labels?.['app']}`)),
    new Set(['webhook web']),
  );
});

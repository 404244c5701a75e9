import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { persistentVolumeClaims, persistentVolumes, pods as podKind } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { SchedulerConfig } from '../../../../scheduler/config/config.ts';
import type { Claim, PersistentVolume } from '../../../../scheduler/types.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { scene } from '../simulated/scene.ts';
import { podWith } from './storage-builders.ts';

/* Volumes on the embedded API server. There is a class `late`, whose claims wait for their pod. */

const SOON = 30_000;
const SELECTED = 'volume.kubernetes.io/selected-node';
const bindCompleted = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };

interface Options {
  readonly provisioner?: string;
  /** Somebody binds claims to the volumes that are reserved for them, as kube-controller-manager does. @default true */
  readonly binds?: boolean;
  readonly config?: Partial<SchedulerConfig>;
  readonly by?: Interceptor;
}

async function storage(t: TestContext, { provisioner = 'kubernetes.io/no-provisioner', binds = true, ...options }: Options = {}) {
  const found = await scene(t, ['a', 'b'], options);
  const { api, user } = found.world;
  const { storage } = api.hooks;
  const claimNamed = (name: string) => storage.get('/persistentvolumeclaims', `default/${name}`) as Claim | undefined;
  const volumeNamed = (name: string) => storage.get('/persistentvolumes', name) as PersistentVolume | undefined;
  const metadata = { name: 'late' };
  api.add({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata, provisioner, volumeBindingMode: 'WaitForFirstConsumer' });
  const change = (name: string, change: object) =>
    user.patch(persistentVolumeClaims, { namespace: 'default', name }, change, { type: 'merge' });
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'late' };
  const addClaim = (name: string, more: object = {}, annotated: object = {}) =>
    api.add({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default', ...annotated },
      spec: { ...spec, resources: { requests: { storage: '1Gi' } }, ...more },
    });
  const addVolume = async (name: string, more: object = {}) => {
    const capacity = { storage: '1Gi' };
    api.add({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { ...spec, capacity, hostPath: { path: '/' }, ...more },
    });
    await user.patch(persistentVolumes, { name }, { status: { phase: 'Available' } }, { type: 'merge', subresource: 'status' });
  };
  storage.onChange((kind, { object, type }) => {
    const { claimRef } = (object as PersistentVolume).spec ?? {};
    if (!binds || kind !== '/persistentvolumes' || type === 'DELETED' || claimRef === undefined) return;
    queueMicrotask(() => void change(claimRef.name ?? '', { metadata: bindCompleted, spec: { volumeName: object.metadata.name } }));
  });
  const conditionOf = (name: string): string => `${found.condition(name)?.reason}: ${found.condition(name)?.message}`;
  const comesTrue = async (what: string, holds: () => boolean): Promise<void> =>
    assert.notEqual(await found.world.until(holds, SOON, 50), undefined, what);
  const selected = (name: string): string | undefined => claimNamed(name)?.metadata.annotations?.[SELECTED];
  return { ...found, claimNamed, volumeNamed, addClaim, addVolume, change, conditionOf, comesTrue, selected };
}

test('a claim that waits for its pod gets a volume where the pod fits, the pod goes there, and no other claim gets the volume', async (t) => {
  const { stage, nodeOf, claimNamed, volumeNamed, addClaim, addVolume, conditionOf, comesTrue } = await storage(t);
  for (const name of ['one', 'two']) addClaim(name);
  stage.add(podWith('db-1', 'one'));
  await comesTrue('it is refused', () => conditionOf('db-1').includes("2 node(s) didn't find available persistent volumes to bind"));
  const onB = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] }];
  await addVolume('on-b', { nodeAffinity: { required: { nodeSelectorTerms: onB } } });
  stage.add(podWith('db-2', 'two'));
  await comesTrue('one is bound', () => ['db-1', 'db-2'].some((name) => nodeOf(name) === 'b'));
  assert.equal(volumeNamed('on-b')?.metadata.annotations?.['pv.kubernetes.io/bound-by-controller'], 'yes');
  assert.deepEqual([claimNamed('one')?.spec?.volumeName, claimNamed('two')?.spec?.volumeName].filter(Boolean), ['on-b']);
  await stage.pass(SOON);
  const waiting = ['db-1', 'db-2'].filter((name) => nodeOf(name) === '');
  assert.equal(waiting.length, 1, 'the volume is taken');
});

test('a pod names its node while a volume is made there, and no more when it cannot be: then it goes elsewhere', async (t) => {
  const { world, stage, find, nodeOf, change, addClaim, addVolume, claimNamed, conditionOf, comesTrue, selected } = await storage(t, {
    provisioner: 'csi',
  });
  addClaim('data');
  stage.add(podWith('web', 'data').selects({ 'kubernetes.io/hostname': 'a' }));
  await comesTrue('its volume is to be made on the node', () => selected('data') === 'a');
  assert.equal(find('web')?.status?.nominatedNodeName, 'a');
  await world.patchNode('a', { spec: { unschedulable: true } });
  await change('data', { metadata: { annotations: { [SELECTED]: null } } });
  const why = 'no volume could be provisioned on this node for claim default/data; see its events; the pod will be retried';
  await comesTrue('it is told', () => conditionOf('web').includes(why) || conditionOf('web').includes('unschedulable'));
  await comesTrue('it names no node', () => find('web')?.status?.nominatedNodeName === undefined);
  await world.patchNode('a', { spec: { unschedulable: null } });
  await comesTrue('it is tried again', () => selected('data') === 'a');
  const { uid } = claimNamed('data')?.metadata ?? {};
  await addVolume('made', { claimRef: { namespace: 'default', name: 'data', uid } });
  await comesTrue('it is bound', () => nodeOf('web') === 'a');
});

test('a claim that nobody binds is waited for as long as configured; a pod that goes meanwhile leaves nothing behind', async (t) => {
  const config = { volumeBindTimeoutMs: 2_000 };
  const { world, stage, conditionOf, addClaim, addVolume, comesTrue } = await storage(t, { binds: false, config });
  addClaim('data');
  await addVolume('pv');
  stage.add(podWith('web', 'data'));
  const why = /^SchedulerError: .*claim default\/data is not bound yet; see its events.* \(waited 2 s\)/;
  await comesTrue('it is told', () => why.test(conditionOf('web')));
  await world.user.patch(podKind, { namespace: 'default', name: 'web' }, { metadata: { finalizers: ['test/wait'] } }, { type: 'merge' });
  await stage.pass(2_500);
  const said = conditionOf('web');
  await stage.delete('web');
  await stage.pass(5_000);
  assert.deepEqual([conditionOf('web'), stage.problems()], [said, []]);
});

for (const { why, code, isDone = false, tries } of [
  { why: 'is done without our hearing of it is not done again', code: 500, isDone: true, tries: 1 },
  { why: 'fails once is tried again', code: 500, tries: 2 },
  { why: 'is refused is not tried again, until the pod is', code: 403, tries: 2 },
])
  test(`a write of a volume that ${why}`, async (t) => {
    let tried = 0;
    const { stage, nodeOf, claimNamed, addClaim, addVolume, comesTrue } = await storage(t, {
      by: {
        async call({ verb, resource, key }, pass) {
          if (verb !== 'patch' || resource !== 'persistentvolumes' || ++tried > 1) return pass();
          if (isDone) await pass();
          throw new ApiError({ method: 'PATCH', path: key, host: 'local' }, { code, reason: 'Failed', message: 'no such luck' });
        },
      },
    });
    addClaim('data');
    await addVolume('pv');
    stage.add(podWith('web', 'data'));
    await comesTrue('it is bound', () => nodeOf('web') !== '');
    assert.deepEqual([claimNamed('data')?.spec?.volumeName, tried], ['pv', tries]);
  });

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { statefulSetController } from '../../../../controllers/statefulset/controller.ts';
import type { StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { statefulSets } from '../../../../kube/api/resources.ts';
import { LiveWorld } from '../daemonset/live-world.ts';

const start = (t: TestContext): Promise<LiveWorld> =>
  LiveWorld.start(t, ['a', 'b'], { setup: (runtime) => [statefulSetController(runtime)] });

function statefulSet(spec: Record<string, unknown> = {}, annotations: Record<string, string> = {}): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', annotations },
    spec: {
      serviceName: 'web',
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      // Bound at once: the hollow nodes bind only what is pinned to them.
      template: { metadata: { labels: { app: 'web' } }, spec: { nodeName: 'a', containers: [{ name: 'c', image: 'v1' }] } },
      ...spec,
    },
  };
}

const setOf = (world: LiveWorld): StatefulSet => world.api.hooks.storage.get('apps/statefulsets', 'default/web') as unknown as StatefulSet;
const names = (world: LiveWorld): string[] =>
  world
    .pods()
    .map(({ metadata }) => metadata.name ?? '')
    .toSorted();
const patch = (world: LiveWorld, change: object): Promise<StatefulSet> =>
  world.client.patch<StatefulSet>(statefulSets, { name: 'web', namespace: 'default' }, change, { type: 'strategic' });

async function settled(world: LiveWorld, replicas = 3): Promise<void> {
  await world.until('settled', () => {
    const { status, metadata } = setOf(world);
    return (
      status?.observedGeneration === metadata.generation &&
      status?.replicas === replicas &&
      (status.readyReplicas ?? 0) === replicas &&
      status.currentRevision === status.updateRevision &&
      (status.currentReplicas ?? 0) === replicas
    );
  });
}

test('makes pods in their order, replaces them from the top, and scales down one by one', { timeout: 120_000 }, async (t) => {
  const world = await start(t);
  world.api.add(statefulSet());
  await settled(world);
  assert.deepEqual(names(world), ['web-0', 'web-1', 'web-2']);
  const created = world.pods().toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  assert.equal(created.length, 3);
  await patch(world, { spec: { template: { spec: { containers: [{ name: 'c', image: 'v2' }] } } } });
  await settled(world);
  assert.deepEqual(
    world.pods().map(({ spec }) => spec?.containers[0]?.image),
    ['v2', 'v2', 'v2'],
  );
  await patch(world, { spec: { replicas: 1 } });
  await settled(world, 1);
  assert.deepEqual(names(world), ['web-0']);
  const messages = new Set(world.events().map(({ message }) => message));
  assert.ok(messages.has('create Pod web-0 in StatefulSet web successful'));
  assert.ok(messages.has('delete Pod web-2 in StatefulSet web successful'));
});

test('two billion replicas stop nobody else, and people are told', { timeout: 120_000 }, async (t) => {
  const world = await start(t);
  const huge = statefulSet({ replicas: 2 ** 31 - 1, selector: { matchLabels: { app: 'huge' } } }, { 'dkc.dev/expand-claims': 'true' });
  const template = { metadata: { labels: { app: 'huge' } }, spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'v1' }] } };
  world.api.add({ ...huge, metadata: { ...(huge['metadata'] as object), name: 'huge' }, spec: { ...(huge['spec'] as object), template } });
  world.api.add(statefulSet());
  await settled(world);
  await world.until('told', () => world.events().some(({ reason }) => reason === 'TooManyReplicas'));
  const event = world.events().find(({ reason }) => reason === 'TooManyReplicas');
  assert.equal(
    event?.message,
    'spec.replicas is 2147483647, and 1000000 pods are made: a set has at most 1000000, and no ordinal above 2147483647; lower spec.replicas',
  );
});

test('gives each pod its claims, and the same ones again', { timeout: 120_000 }, async (t) => {
  const world = await start(t);
  const volumeClaimTemplates = [
    { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ];
  world.api.add(statefulSet({ replicas: 2, volumeClaimTemplates, podManagementPolicy: 'Parallel' }));
  await settled(world, 2);
  const claims = (): string[] =>
    world.api.hooks.storage.list('/persistentvolumeclaims', 'default').objects.map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  const before = claims();
  assert.deepEqual(before.map((text) => text.split(' ')[0] ?? '').toSorted(), ['data-web-0', 'data-web-1']);
  const [pod] = world.pods();
  assert.ok(pod);
  assert.deepEqual(pod.spec?.volumes?.find(({ name }) => name === 'data')?.persistentVolumeClaim?.claimName, `data-${pod.metadata.name}`);
  await world.deletePod(pod);
  await world.until(
    'another one',
    () => world.pods().every(({ metadata }) => metadata.uid !== pod.metadata.uid) && world.pods().length === 2,
  );
  await settled(world, 2);
  assert.deepEqual(claims(), before);
});

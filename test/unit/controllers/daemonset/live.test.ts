import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { daemonSets, pods } from '../../../../kube/api/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { daemonSet, LiveWorld } from './live-world.ts';

const image = (name: string): object => ({ spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } } });

test('makes a pod on each node, and replaces them one by one', { timeout: 120_000 }, async (t) => {
  const world = await LiveWorld.start(t, ['a', 'b', 'c']);
  world.api.add(daemonSet('web'));
  await world.settled('web', 3);
  assert.deepEqual(
    world
      .pods()
      .map(({ spec }) => spec?.nodeName ?? '')
      .toSorted(),
    ['a', 'b', 'c'],
  );
  const before = new Set(world.pods().map(({ metadata }) => metadata.uid ?? ''));
  await world.apply(image('v2'));
  await world.settled('web', 3);
  assert.equal(world.pods().filter(({ metadata }) => before.has(metadata.uid ?? '')).length, 0);
});

test('takes up what is there: orphans become its own, and no new pod is made beside them', { timeout: 120_000 }, async (t) => {
  const world = await LiveWorld.start(t, ['a', 'b']);
  world.api.add(daemonSet('web'));
  await world.settled('web', 2);
  const uids = world.pods().map(({ metadata }) => metadata.uid ?? '');
  await world.client.delete(daemonSets, { name: 'web', namespace: 'default' }, { body: { propagationPolicy: 'Orphan' } });
  await world.until('orphans', () =>
    world.pods().every(({ metadata }) => metadata.ownerReferences === undefined || metadata.ownerReferences.length === 0),
  );
  world.api.add(daemonSet('web'));
  await world.settled('web', 2);
  assert.deepEqual(
    world
      .pods()
      .map(({ metadata }) => metadata.uid ?? '')
      .toSorted(),
    uids.toSorted(),
  );
  assert.ok(world.pods().every(({ metadata }) => metadata.ownerReferences?.[0]?.uid === world.set('web').metadata.uid));
});

test('makes one pod and no thousands when a webhook takes the affinity away', { timeout: 120_000 }, async (t) => {
  let made = 0;
  const world = await LiveWorld.start(t, ['a', 'b', 'c'], {
    client: (client) =>
      intercepted(client, async (object) => {
        if (object.kind !== 'Pod') return object;
        made += 1;
        const { affinity: _, ...spec } = object['spec'] as Record<string, unknown>;
        return { ...object, spec };
      }),
  });
  world.api.add(daemonSet('web'));
  await world.until('the event', () => world.events().some(({ reason }) => reason === 'PlacementLost'));
  await world.until('the pod is gone', () => world.pods().length === 0);
  assert.equal(made, 1);
  const event = world.events().find(({ reason }) => reason === 'PlacementLost');
  assert.match(
    event?.message ?? '',
    /^Pod web-\w{5} was made for node a and came back as one for no node: a webhook .* no more are made for 1 s$/,
  );
});

test('places pods by itself where nobody else does, and waits for room', { timeout: 120_000 }, async (t) => {
  const world = await LiveWorld.start(
    t,
    [
      { name: 'a', allocatable: { cpu: '1' } },
      { name: 'b', allocatable: { cpu: '1' } },
    ],
    { controller: { placement: 'controller' } },
  );
  world.api.add({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'fat', namespace: 'default' },
    spec: { nodeName: 'a', containers: [{ name: 'c', image: 'v1', resources: { requests: { cpu: '800m' } } }] },
  });
  const wants = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'v1', resources: { requests: { cpu: '500m' } } }] },
  };
  world.api.add(daemonSet('web', { template: wants }));
  await world.until('one is there', () => world.set('web').status?.numberAvailable === 1);
  const status = world.set('web').status;
  assert.deepEqual([status?.desiredNumberScheduled, status?.currentNumberScheduled], [2, 1]);
  const reason = 'failed to place pod on "a": Node didn\'t have enough resource: cpu, requested: 500, used: 800, capacity: 1000';
  await world.until('the event', () => world.events().some(({ message }) => message === reason));
  await world.client.delete(pods, { name: 'fat', namespace: 'default' });
  await world.settled('web', 2);
  const own = world.pods().filter(({ metadata }) => metadata.labels?.['app'] === 'web');
  assert.deepEqual(own.map(({ spec }) => `${spec?.nodeName} ${spec?.schedulerName}`).toSorted(), [
    'a kubernetes.io/daemonset-controller',
    'b kubernetes.io/daemonset-controller',
  ]);
});

test('keeps nodes at the old revision, also when their pod is lost, until the partition goes', { timeout: 120_000 }, async (t) => {
  const world = await LiveWorld.start(t, ['a', 'b', 'c', 'd']);
  world.api.add(daemonSet('web', {}, { 'dkc.dev/partition': '50%' }));
  await world.settled('web', 4);
  const [old] = new Set(hashes(world));
  await world.apply(image('v2'));
  const counted = (hash: string | undefined): number => hashes(world).filter((one) => one === hash).length;
  await world.until(
    'two are new',
    () => world.set('web').status?.updatedNumberScheduled === 2 && world.set('web').status?.numberAvailable === 4,
  );
  assert.equal(counted(old), 2);
  const kept = world.pods().find(({ metadata }) => metadata.labels?.['controller-revision-hash'] === old);
  assert.ok(kept);
  await world.deletePod(kept);
  await world.until(
    'it is replaced',
    () => world.set('web').status?.numberAvailable === 4 && !world.pods().some(({ metadata }) => metadata.uid === kept.metadata.uid),
  );
  assert.equal(counted(old), 2, 'by one of the old revision');
  await world.apply({ metadata: { annotations: { 'dkc.dev/partition': null } } });
  await world.settled('web', 4);
  assert.equal(counted(old), 0);
});

const hashes = (world: LiveWorld): (string | undefined)[] =>
  world.pods().map(({ metadata }) => metadata.labels?.['controller-revision-hash']);

/** A webhook, as the controller sees one: what is stored is not what was sent. */
function intercepted(client: Client, rewrite: (object: KubeObject) => Promise<KubeObject>): Client {
  return new Proxy(client, {
    get: (target, name: keyof Client) =>
      name === 'create'
        ? async (...[resource, object, options]: Parameters<Client['create']>) => target.create(resource, await rewrite(object), options)
        : target[name].bind(target),
  });
}

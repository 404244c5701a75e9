import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { daemonSets, pods } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { behave } from '../../../support/hollow/hollow-nodes.ts';
import { daemonSet } from '../../../support/simulated/sets.ts';
import { type SimProcess, SimWorld } from '../../../support/simulated/sim-world.ts';

type Scene = { world: SimWorld; process: SimProcess; calls: string[] };

/** @param write - in the place of the call */
async function scene(t: TestContext, write?: (world: SimWorld, what: string) => void | Promise<void>): Promise<Scene> {
  const world = new SimWorld({ pace: { bindMs: () => 0, startMs: () => 500, endMs: () => 500 } });
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  const calls: string[] = [];
  const process = world.start({
    call: async ({ verb, resource }, pass) => {
      calls.push(`${verb} ${resource}`);
      await write?.(world, `${verb} ${resource}`);
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  return { world, process, calls };
}

/** A set is made and gets another image, two at a time. @param between - before it does */
async function rolled(world: SimWorld, between = (): unknown => undefined): Promise<void> {
  world.api.add(daemonSet('web', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }));
  await world.clock.advance(10_000);
  between();
  const template = { spec: { containers: [{ name: 'c', image: 'v2' }] } };
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { template } }, { type: 'merge' });
  await world.clock.advance(10_000);
  assert.equal(world.set()?.status?.updatedNumberScheduled, 2);
}

const count = (calls: readonly string[], what: string): number => calls.filter((one) => one === what).length;

test('no pod is made for a set that goes while the pass writes the history', async (t) => {
  const { world, calls } = await scene(t, async ({ api, clock }, what) => {
    if (what !== 'create controllerrevisions') return;
    api.hooks.storage.remove('apps/daemonsets', 'default/web');
    // The cache has it before the answer comes.
    await clock.sleep(200);
  });
  world.api.add(daemonSet('web'));
  await world.clock.advance(10_000);
  assert.deepEqual([count(calls, 'create controllerrevisions'), count(calls, 'create pods')], [1, 0]);
});

test('a pod that another of its name takes the place of while the pass writes the history is not deleted', async (t) => {
  let swaps = false;
  const { world, process } = await scene(t, async (at, what) => {
    if (what !== 'create controllerrevisions' || !swaps) return;
    for (const pod of at.pods()) {
      const { name, uid } = pod.metadata;
      at.api.hooks.storage.put('/pods', `default/${name}`, { ...pod, metadata: { ...pod.metadata, uid: `${uid}-2` } });
    }
    await at.clock.sleep(200);
  });
  await rolled(world, () => (swaps = true));
  assert.deepEqual(process.failures(), []);
});

test('pods that go by themselves while they are being deleted hold no rollout up', async (t) => {
  const { world, process } = await scene(t, (at, what) => {
    if (what === 'delete pods') for (const { metadata } of at.pods()) at.api.hooks.storage.remove('/pods', `default/${metadata.name}`);
  });
  await rolled(world);
  assert.deepEqual(process.failures(), []);
});

test('a pod that fails at once is made again after pauses that grow', async (t) => {
  const { world, calls } = await scene(t);
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'hollow/failed:1' }] } };
  world.api.add(daemonSet('web', { template }));
  await world.clock.advance(60_000);
  // On each of two nodes at once, then after 1, 2, 4, 8, 16 and 32 s.
  const made = count(calls, 'create pods');
  assert.ok(made > 8 && made <= 16, `${made} pods`);
});

test('in a namespace that is terminating a pod is tried once, without an event, and again when what is expected expires', async (t) => {
  const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated', field: 'metadata.namespace' }];
  const no = { code: 403, reason: 'Forbidden', message: 'no', details: { causes } };
  const { world, calls } = await scene(t, (_, what) => {
    if (what === 'create pods') throw new ApiError({ method: 'POST', path: '/', host: 'test' }, no);
  });
  world.api.add(daemonSet('web'));
  await world.clock.advance(60_000);
  assert.equal(world.set()?.status?.observedGeneration, 1);
  await world.user.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { minReadySeconds: 1 } }, { type: 'merge' });
  await world.clock.advance(60_000);
  assert.deepEqual([count(calls, 'create pods'), world.set()?.status?.observedGeneration], [1, 1]);
  await world.clock.advance(200_000);
  assert.deepEqual([count(calls, 'create pods'), world.set()?.status?.observedGeneration], [2, 2]);
  assert.deepEqual(messages(world, 'FailedCreate'), []);
});

const memory = {
  takes: { resources: { requests: { memory: '10Gi' } } },
  told: [
    `failed to place pod on "a": Node didn't have enough resource: memory, requested: 10737418240, used: 10737418240, capacity: 17179869184`,
  ],
};
const cases = [
  { why: 'a host port', takes: { ports: [{ containerPort: 80, hostPort: 80 }] }, told: [], ends: false },
  { why: 'memory of a pod that ends', ...memory, ends: true },
];
for (const { why, takes, told, ends } of cases)
  test(`where the controller places pods, ${why} that becomes free is taken`, async (t) => {
    const world = new SimWorld({ setup: (runtime) => [daemonSetController(runtime, { placement: 'controller' })] });
    t.after(() => world.stop());
    world.addNodes({ name: 'a', allocatable: { memory: '16Gi', pods: '10' } });
    const containers = [{ name: 'c', image: 'v1', ...takes }];
    const metadata = { name: 'other', namespace: 'default' };
    world.api.add({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'a', containers } });
    const process = world.start();
    await world.until(() => process.ready, 10_000);
    world.api.add(daemonSet('web', { template: { metadata: { labels: { app: 'web' } }, spec: { containers } } }));
    await world.clock.advance(10_000);
    const before = world.pods().map(({ metadata: { name } }) => name);
    assert.deepEqual(before, ['other']);
    assert.deepEqual(messages(world, 'FailedPlacement'), told);
    if (ends) await world.user.patch(pods, { name: 'other', namespace: 'default' }, behave('succeeded'), { type: 'merge' });
    else await world.user.delete(pods, { name: 'other', namespace: 'default' });
    await world.clock.advance(10_000);
    assert.equal(world.set()?.status?.numberAvailable, 1);
    const made = world.pods().find(({ metadata: { name } }) => name !== 'other');
    assert.equal(made?.spec?.schedulerName, 'kubernetes.io/daemonset-controller');
  });

const rewritten: { what: string; rewrite: (pod: Pod) => void; told: string }[] = [
  {
    what: 'takes the affinity away',
    rewrite: ({ spec }) => delete spec?.affinity,
    told: 'PlacementLost: Pod web-X was created for node a, but the API server returned it for no node',
  },
  {
    what: 'takes the labels away',
    rewrite: ({ metadata }) => delete metadata.labels,
    told: 'OwnershipLost: Pod web-X was created for this set, but the API server returned it with labels that the selector does not match',
  },
];
for (const { what, rewrite, told } of rewritten)
  test(`makes one pod and no thousands when a webhook ${what}`, async (t) => {
    const world = new SimWorld();
    t.after(() => world.stop());
    world.addNodes('a', 'b', 'c');
    let made = 0;
    const process = world.start({
      call: async ({ verb, resource, body }, pass) => {
        if (verb === 'create' && resource === 'pods') {
          made += 1;
          rewrite(body as Pod);
        }
        return pass();
      },
    });
    await world.until(() => process.ready, 10_000);
    world.api.add(daemonSet('web'));
    const [reason = ''] = told.split(':');
    await world.until(() => messages(world, reason).length > 0 && world.pods().length === 0, 900, 50);
    assert.equal(made, 1);
    const rest = ': an admission webhook rewrites the pods of this set. The pod is deleted, and no more are created for 1 s';
    assert.equal(`${reason}: ${messages(world, reason)[0]?.replace(/web-\w{5}/, 'web-X')}`, told + rest);
    await world.clock.advance(60_000);
    assert.ok(made <= 7, `${made} pods in a minute`);
  });

function messages(world: SimWorld, reason: string): string[] {
  const { objects } = world.api.hooks.storage.list('/events');
  return objects.filter((event) => event['reason'] === reason).map(({ message }) => String(message));
}

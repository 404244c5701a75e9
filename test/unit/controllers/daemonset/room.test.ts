import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import { pods } from '../../../../kube/api/object.ts';
import { behave } from '../../../support/hollow/hollow-nodes.ts';
import { daemonSet } from '../../../support/simulated/sets.ts';
import { SimWorld } from '../../../support/simulated/sim-world.ts';

const memory = {
  takes: { resources: { requests: { memory: '10Gi' } } },
  told: [
    `failed to place pod on "a": Node didn't have enough resource: memory, requested: 10737418240, used: 10737418240, capacity: 17179869184`,
  ],
};
const cases = [
  { why: 'a host port', takes: { ports: [{ containerPort: 80, hostPort: 80 }] }, told: [], ends: false },
  { why: 'memory', ...memory, ends: false },
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
    assert.deepEqual(
      world.pods().map(({ metadata: { name } }) => name),
      ['other'],
    );
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
  {
    what: 'gives it to another owner',
    rewrite: ({ metadata }) =>
      (metadata.ownerReferences = metadata.ownerReferences?.map((owner) => ({ ...owner, name: 'b', uid: 'b' })) ?? []),
    told: 'OwnershipLost: Pod web-X was created for this set, but the API server returned it as one of DaemonSet b',
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

test('a pod whose revision a webhook takes away has it back, and is not replaced without end', async (t) => {
  const world = new SimWorld();
  t.after(() => world.stop());
  world.addNodes('a', 'b');
  let made = 0;
  const process = world.start({
    call: async ({ verb, resource, body }, pass) => {
      if (verb === 'create' && resource === 'pods') {
        made += 1;
        (body as Pod).metadata.labels = { app: 'web' };
      }
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(daemonSet('web'));
  await world.clock.advance(60_000);
  assert.deepEqual([made, world.set()?.status?.updatedNumberScheduled], [2, 2]);
});

function messages(world: SimWorld, reason: string): string[] {
  const { objects } = world.api.hooks.storage.list('/events');
  return objects.filter((event) => event['reason'] === reason).map(({ message }) => String(message));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import { pods } from '../../../../kube/api/resources.ts';
import { daemonSet } from './live-world.ts';
import { SimWorld } from './simulated/sim-world.ts';

const cases = [
  { why: 'a host port', takes: { ports: [{ containerPort: 80, hostPort: 80 }] } },
  { why: 'room', takes: { resources: { requests: { memory: '10Gi' } } } },
];
for (const { why, takes } of cases)
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
    await world.user.delete(pods, { name: 'other', namespace: 'default' });
    await world.clock.advance(10_000);
    assert.equal(world.set()?.status?.numberAvailable, 1);
  });

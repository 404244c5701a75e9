import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../../../kube/api/object.ts';
import type { FleetWorld } from '../../../support/fleet/fleet-world.ts';
import { cordonedIn, fleetOf } from './fleet-of.ts';

/** An edit that leaves the ConfigMap without what is rolled out. */
const breakConfigMap = ({ client }: FleetWorld) =>
  client.patch(configMaps, { name: 'web', namespace: 'dkc-system' }, { data: { kubelet: null } }, { type: 'merge' });

test('a bad revision is taken back, and nodes are given back, also where an edit in the middle cannot be rolled out', async () => {
  await using world = await fleetOf(4);
  await world.roll('web', { steps: [{ nodes: '100%' }], maxUnavailable: 4, drain: 'Always' });
  await world.phase('web', 'Complete');
  world.agents.bad = (text) => (text.includes('130') ? 'condemns' : undefined);
  await world.payload({ maxPods: 130 });
  await world.until('web', 'nodes have it', ({ status }) => (status?.nodes?.updated ?? 0) > 1 && status?.complete !== true);
  await breakConfigMap(world);
  const { status } = await world.phase('web', 'RolledBack');
  assert.match(status?.message ?? '', /failed: .*all nodes rolled back to web-\w+; ConfigMap dkc-system\/web has no key "kubelet"$/);
  await world.clock.advance(10_000);
  assert.deepEqual(await cordonedIn(world), []);
  // A retry that is asked for meanwhile begins when it is corrected.
  world.agents.bad = undefined;
  await world.edit('web', { attempt: 2 });
  await world.clock.advance(10_000);
  assert.equal((await world.rollout('web')).status?.phase, 'RolledBack');
  await world.payload({ maxPods: 130 });
  await world.until('web', 'it is complete', ({ status: now }) => now?.complete === true && now.attempt === 2);
});

test('an edit that cannot be rolled out keeps further nodes from the revision before; those under way arrive, and it goes on when corrected', async () => {
  await using world = await fleetOf(4);
  await world.roll('web', { steps: [{ nodes: '100%' }], maxUnavailable: 1, drain: 'Always' });
  await world.until('web', 'one is in flight', ({ status }) => status?.nodes?.inFlight === 1 && status.nodes.updated === 1);
  await breakConfigMap(world);
  await world.clock.advance(300_000);
  const { status } = await world.rollout('web');
  assert.deepEqual([status?.phase, status?.waitsFor, status?.nodes?.settled, status?.nodes?.updated], ['Pending', 'ConfigMap', 1, 1]);
  assert.match(status?.message ?? '', /^1\/4 nodes settled \(node-\d\); ConfigMap dkc-system\/web has no key "kubelet"$/);
  assert.deepEqual(await cordonedIn(world), []);
  await world.payload({ maxPods: 120 });
  await world.phase('web', 'Complete');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FleetWorld } from '../../../support/fleet/fleet-world.ts';

test('a good configuration goes through the steps, never with more nodes in flight than maxUnavailable', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(20);
  await world.payload({ maxPods: 120 });
  await world.roll('web', { maxUnavailable: 3 });
  const { status } = await world.phase('web', 'Complete');
  assert.deepEqual(status?.nodes, { selected: 20, updated: 20, settled: 20, inFlight: 0, failed: 0, refused: 0 });
  assert.equal(world.agents.mostInFlight, 3);
  assert.equal(new Set(world.agents.assigned).size, 20);
});

test('a bad one stops at the first canary, and the node is taken back', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(10);
  await world.payload({ maxPods: 120 });
  await world.roll('web');
  const good = (await world.phase('web', 'Complete')).status?.revision;
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.payload({ maxPods: 13 });
  const { status } = await world.phase('web', 'RolledBack');
  assert.equal(status?.previousRevision, good);
  assert.equal(status?.nodes?.failed, 1);
  console.log(JSON.stringify(status, undefined, 1), await world.events('web'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { FleetWorld } from '../../../support/fleet/fleet-world.ts';
import { cordonedIn, fleetOf, patchNode } from './fleet-of.ts';

const revisionIn = async (world: FleetWorld): Promise<string> => (await world.rollout('web')).status?.revision ?? '';

/** What nodes are assigned. */
async function wantedIn({ client }: FleetWorld): Promise<string[]> {
  const { items } = await client.list<KubeObject & { spec?: { configMap?: { name?: string } } }>(nodeConfigs);
  return items.map(({ spec }) => spec?.configMap?.name ?? 'local');
}

for (const drain of ['Never', 'Always'] as const)
  test(`nodes with a revision that was edited half-way go back as well when the next one is aborted (drain ${drain})`, async () => {
    await using world = await fleetOf(4);
    await world.roll('web', { steps: [{ nodes: 3 }, { nodes: '100%', hold: '10m' }], maxUnavailable: 4, drain });
    await world.phase('web', 'Complete');
    const first = await revisionIn(world);
    await world.edit('web', { steps: [{ nodes: 3, approve: true }, { nodes: '100%' }], maxUnavailable: 1 });
    await world.payload({ maxPods: 130 });
    await world.until('web', 'three nodes have the second', ({ status }) => status?.waitsFor === 'Approval');
    await world.payload({ maxPods: 140 });
    await world.until('web', 'one has the third', ({ status }) => status?.nodes?.updated === 1 && status.waitsFor !== 'Approval');
    const cordons = await world.watchCordons();
    await world.edit('web', { abortedRevision: await revisionIn(world) });
    const { status } = await world.phase('web', 'RolledBack');
    assert.match(status?.message ?? '', new RegExp(`all nodes rolled back to ${first}$`));
    assert.deepEqual(new Set(await wantedIn(world)), new Set([first]));
    await world.clock.advance(10_000);
    assert.deepEqual(await cordonedIn(world), []);
    assert.ok(cordons.atOnce <= 1);
  });

test('without a complete revision all that it has assigned goes back to the local configuration', async () => {
  await using world = await fleetOf(3);
  await world.roll('web', { steps: [{ nodes: 2, approve: true }, { nodes: '100%' }], maxUnavailable: 1, drain: 'Never' });
  await world.until('web', 'two nodes have the first', ({ status }) => status?.waitsFor === 'Approval');
  world.agents.bad = (text) => (text.includes('130') ? 'condemns' : undefined);
  await world.payload({ maxPods: 130 });
  await world.phase('web', 'RolledBack');
  assert.deepEqual(new Set(await wantedIn(world)), new Set(['local']));
});

const corrections = [
  { why: 'an edit', to: 140 },
  { why: 'the content of before', to: 120 },
];
for (const { why, to } of corrections)
  test(`a canary that its revision has left not Ready gets ${why}, though nothing else may be unavailable`, async () => {
    await using world = await fleetOf(4);
    await world.roll('web', { steps: [{ nodes: 1 }, { nodes: '100%' }], maxUnavailable: 1, drain: 'Never' });
    await world.phase('web', 'Complete');
    await world.payload({ maxPods: 130 });
    await world.until('web', 'the canary is in flight', ({ status }) => status?.nodes?.inFlight === 1 && status.complete !== true);
    const canary = world.agents.assigned.at(-1) ?? '';
    await world.setReady(canary, false);
    await world.clock.advance(120_000);
    const before = world.agents.assigned.length;
    await world.payload({ maxPods: to });
    await world.until('web', 'the canary gets it', () => world.agents.assigned.length > before, 600_000);
    assert.equal(world.agents.assigned.at(-1), canary);
    await world.setReady(canary, true);
    await world.phase('web', 'Complete');
    assert.deepEqual(new Set(await wantedIn(world)), new Set([await revisionIn(world)]));
  });

test('a node that is down with the last complete revision, or an older one, is not touched', async () => {
  await using world = await fleetOf(4);
  await world.roll('web', { steps: [{ nodes: '100%' }], maxUnavailable: 4, drain: 'Never' });
  await world.phase('web', 'Complete');
  await world.setReady('node-0', false);
  for (const maxPods of [130, 140]) {
    await world.payload({ maxPods });
    await world.until('web', 'the others have it', ({ status }) => status?.nodes?.settled === 3 && status.complete === true);
  }
  await patchNode(world, 'node-1', { spec: { unschedulable: true } });
  await world.payload({ maxPods: 150 });
  await world.until('web', 'the others have it', ({ status }) => status?.nodes?.settled === 3 && status.phase === 'Complete');
  assert.equal(world.agents.assigned.filter((name) => name === 'node-0').length, 1);
});

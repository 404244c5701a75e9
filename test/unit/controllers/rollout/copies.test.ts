import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { FleetWorld } from '../../../support/fleet/fleet-world.ts';
import { fleetOf, patchNode } from './fleet-of.ts';

async function copies({ client }: FleetWorld): Promise<string[]> {
  const { items } = await client.list(configMaps, { namespace: 'dkc-system' });
  return items.flatMap(({ metadata: { name = '', ownerReferences } }) => (ownerReferences === undefined ? [] : [name]));
}

/** Rolls out another content, to its end. @returns the name of its copy */
async function next(world: FleetWorld, name: string, maxPods: number): Promise<string> {
  const before = (await world.rollout(name)).status?.revision;
  await world.payload({ maxPods });
  const { status } = await world.until(name, 'it is complete', ({ status: now }) => now?.phase === 'Complete' && now.revision !== before);
  return status?.revision ?? '';
}

test('a copy is kept for as long as any node uses it, also one that the rollout does not select any more', async () => {
  await using world = await fleetOf(3, { labels: { pool: 'web' } });
  await world.roll('web', { nodeSelector: { matchLabels: { pool: 'web' } }, revisionHistoryLimit: 0, maxUnavailable: '100%' });
  const first = (await world.phase('web', 'Complete')).status?.revision ?? '';
  await patchNode(world, 'node-0', { metadata: { labels: { pool: null } } });
  await world.until('web', 'it has two nodes', ({ status }) => status?.nodes?.selected === 2);
  await next(world, 'web', 121);
  const third = await next(world, 'web', 122);
  await world.clock.advance(60_000);
  assert.ok((await copies(world)).includes(first), 'node-0 is assigned it');

  await patchNode(world, 'node-0', { metadata: { labels: { pool: 'web' } } });
  await world.until('web', 'it has three nodes', ({ status }) => status?.nodes?.settled === 3);
  await world.clock.advance(60_000);
  assert.deepEqual((await copies(world)).includes(first), false);
  assert.ok((await copies(world)).includes(third));
});

test('a name that is cut for that of the copy leaves a valid one', async () => {
  await using world = await fleetOf(1);
  const name = `${`${'a'.repeat(60)}.`.repeat(3)}${'a'.repeat(58)}.${'b'.repeat(11)}`;
  await world.roll(name);
  await world.phase(name, 'Complete');
});

for (const { why, verb, resource } of [
  { why: 'the copy', verb: 'create', resource: 'configmaps' },
  { why: 'an assignment', verb: 'patch', resource: 'nodeconfigs' },
])
  test(`an event says why ${why} cannot be written`, async () => {
    await using world = await fleetOf(1);
    const call = { method: 'POST', path: '/', host: 'test' };
    const no = new ApiError(call, { code: 403, reason: 'Forbidden', message: `${resource} is forbidden: exceeded quota` });
    world.between = (seen, pass) => (seen.verb === verb && seen.resource === resource ? Promise.reject(no) : pass());
    await world.roll('web');
    await world.clock.advance(10_000);
    const warning = `WriteRefused: The API server refused what was planned: ${resource} is forbidden: exceeded quota`;
    assert.ok((await world.events('web')).includes(warning), (await world.events('web')).join('\n'));
    world.between = (_, pass) => pass();
    await world.phase('web', 'Complete');
  });

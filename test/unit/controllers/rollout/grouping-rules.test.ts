import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlacementContext, Placer } from '../../../../controllers/rollout/grouping-rules.ts';
import { inOrder } from '../../../../controllers/rollout/grouping.ts';
import { Fleet } from '../../../../controllers/rollout/fleet.ts';
import { bounded, cut, MAX_MESSAGE } from '../../../../controllers/rollout/text.ts';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { type RolloutNode, rolloutState } from '../../../../controllers/rollout/node.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { approve, fleetOf, type Node, nodesOf, patchNode, type FleetWorld } from '../../../support/fleet/fleet-world.ts';

/** Nodes with a condition of KEP-5683 beside Ready: `node-1 MaintenancePlanned`. */
async function marked(world: FleetWorld): Promise<string[]> {
  return (await nodesOf(world))
    .flatMap(({ metadata, status }) => (status?.conditions ?? []).map(({ type }) => `${metadata.name} ${type}`))
    .filter((text) => !text.endsWith(' Ready'))
    .toSorted();
}

const planned = async (world: FleetWorld): Promise<string[]> =>
  (await marked(world)).flatMap((text) => (text.endsWith(' MaintenancePlanned') ? [text.split(' ')[0] ?? ''] : []));

test('while a rollout waits the nodes that come next say so, as many as may be touched; they are the ones that are touched', async () => {
  await using world = await fleetOf(10);
  const night = { schedule: '0 2 * * *', duration: '20h' };
  await world.roll('web', { maxUnavailable: 3, steps: [{ nodes: 1, approve: true }, { nodes: '100%' }], windows: [night] });
  await world.until('web', 'the window is closed', ({ status }) => status?.waitsFor === 'Window');
  await world.clock.advance(1_000);
  const [canary = ''] = await planned(world);
  assert.deepEqual(await marked(world), [`${canary} MaintenancePlanned`]);

  await world.until('web', 'approval', ({ status }) => status?.waitsFor === 'Approval', 5 * 3_600_000);
  assert.deepEqual(world.agents.assigned, [canary]);
  await world.clock.advance(1_000);
  const next = await planned(world);
  assert.equal(next.length, 3);
  assert.ok(!next.includes(canary));
  // One with an error of its configuration comes last.
  const says = (error: string | null) =>
    world.client.patch(nodeConfigs, { name: next[0] ?? '' }, { status: { error } }, { type: 'merge', subresource: 'status' });
  await says(statusErrors.internal);
  await world.clock.advance(1_000);
  assert.ok(!(await planned(world)).includes(next[0] ?? ''));
  await says(null);
  await world.clock.advance(1_000);
  assert.deepEqual(await planned(world), next);
  await approve(world);
  await world.until('web', 'they are touched', ({ status }) => status?.nodes?.inFlight === 3);
  assert.deepEqual(world.agents.assigned.slice(1).toSorted(), next);
  assert.deepEqual(
    await marked(world),
    next.flatMap((name) => [`${name} Drained`, `${name} MaintenanceInProgress`]),
  );
  await world.phase('web', 'Complete');
  await world.clock.advance(1_000);
  assert.deepEqual(await marked(world), []);
});

test('waiting writes nothing more on Nodes, whatever happens; a pause takes it away, and what a person says stays', async () => {
  await using world = await fleetOf(6);
  const theirs = { type: 'MaintenancePlanned', status: 'True', reason: 'AdminRequested', message: 'new disks on Monday' };
  const { status } = await world.client.get<Node>(nodes, { name: 'node-0' });
  await world.client.patch(nodes, { name: 'node-0' }, { status: { conditions: [...(status?.conditions ?? []), theirs] } }, { type: 'merge', subresource: 'status' }); // prettier-ignore
  let [writes, statuses] = [0, 0];
  world.between = (call, pass) => {
    if (call.verb === 'patch' && call.resource === 'nodes/status') writes += 1;
    if (call.verb === 'replace') statuses += 1;
    return pass();
  };
  await world.roll('web', { maxUnavailable: '100%', windows: [{ schedule: '0 2 29 2 *', duration: '1h' }], steps: [{ nodes: '100%' }] });
  const isWaiting = ({ status: now }: { status?: { waitsFor?: string } }): boolean => now?.waitsFor === 'Window';
  await world.until('web', 'the window is closed', isWaiting);
  await world.clock.advance(1_000);
  assert.deepEqual([(await planned(world)).length, writes], [6, 5]);
  const before = statuses;
  for (let round = 0; round < 20; round++) {
    await patchNode(world, 'node-1', { metadata: { annotations: { round: String(round) } } });
    await world.clock.advance(60_000);
  }
  assert.deepEqual([writes, statuses], [5, before]);
  await world.edit('web', { paused: true });
  await world.phase('web', 'Paused');
  await world.clock.advance(1_000);
  assert.deepEqual(await marked(world), ['node-0 MaintenancePlanned']);
});

test('no text is cut inside a character', () => {
  for (let letters = 0; letters < 4; letters++) {
    const text = `${'a'.repeat(letters)}${'😀'.repeat(600)}`;
    assert.ok(bounded(text).isWellFormed() && bounded(text).length <= MAX_MESSAGE);
    assert.ok(cut(text, 256).isWellFormed() && cut(text, 256).length === 256);
  }
});

test('a node on its way back to its local config is waited for until the deadline, whatever verdict it still reports', () => {
  const [now, assignedAt] = [Date.parse('2026-03-01T00:10:00Z'), Date.parse('2026-03-01T00:08:00Z')];
  const before = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '1', kubeletConfigKey: 'kubelet' };
  const node = { carrier: 'node', reports: true, isBehind: false, error: statusErrors.failedTrial, assigned: before, active: null, lastKnownGood: null, assignedAt, ready: true } as unknown as RolloutNode; // prettier-ignore
  const standing = (wanted: RolloutNode['wanted']) =>
    rolloutState({ ...node, wanted }, wanted, { deadlineMs: 300_000, now, retryAttempt: undefined });
  assert.equal(standing(before).at, 'failed');
  assert.deepEqual(standing(null), { at: 'in-flight', why: statusErrors.failedTrial, failsAt: Date.parse('2026-03-01T00:13:00Z') });
});

test('nodes of a large fleet are placed in several looks, those that change meanwhile too; what a plan names is placed in each', () => {
  const unassigned = { wanted: null, assigned: null, active: null, lastKnownGood: null };
  const nodeOf = (at: number): RolloutNode => ({ ...unassigned, node: `node-${at}` }) as RolloutNode;
  let placed = 0;
  const place: Placer = (node) => {
    placed += 1;
    return { node, state: { at: 'waiting' }, groups: ['left'], failsAt: Infinity, isUnavailable: false };
  };
  const course = { key: 'a', now: 0, drains: new Map(), pending: new Map(), rules: { uid: 'b' } } as unknown as PlacementContext;
  const fleet = new Fleet(Array.from({ length: 2_500 }, (_, at) => nodeOf(at)));
  const look = (at = course) => {
    placed = 0;
    return fleet.groups(place, at)?.of('left');
  };
  assert.deepEqual([look(), placed], [undefined, 1_000]);
  fleet.set(nodeOf(7));
  fleet.delete('node-8');
  // A drain that goes on does not wait for the others, and does not keep them waiting.
  const drains = new Map(Array.from({ length: 1_200 }, (_, at) => [`node-${at}`, { at: 'drained' as const, revision: 'c', attempt: 1 }]));
  assert.equal(look({ ...course, drains }), undefined);
  const all = look({ ...course, drains });
  assert.deepEqual([all?.length, fleet.size], [2_499, 2_499]);
  assert.equal(all?.find(({ node }) => node.node === 'node-7')?.node, fleet.get('node-7'));
  // What was drained and is not any more is placed once more; node-8 has gone.
  assert.deepEqual([look()?.length, placed], [2_499, 1_199]);
  const left = Array.from({ length: 2_500 }, (_, at) => fleet.get(`node-${at}`) ?? []).flat();
  assert.deepEqual(all?.map(({ node }) => node), inOrder(left, 'b')); // prettier-ignore
});

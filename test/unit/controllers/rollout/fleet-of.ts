import { rollouts } from '../../../../controllers/rollout/types.ts';
import { type KubeObject, nodes } from '../../../../kube/api/object.ts';
import { type FleetNodeOptions, FleetWorld } from '../../../support/fleet/fleet-world.ts';

/** So many nodes, and a configuration for them that nobody rolls out yet. */
export async function fleetOf(count: number, options: FleetNodeOptions = {}): Promise<FleetWorld> {
  const world = await FleetWorld.start();
  await world.addNodes(count, options);
  await world.payload({ maxPods: 120 });
  return world;
}

export type Node = KubeObject & {
  spec?: { unschedulable?: boolean };
  status?: { conditions?: { type: string; reason?: string; message?: string }[] };
};

export async function nodesOf({ client }: FleetWorld): Promise<Node[]> {
  return (await client.list<Node>(nodes)).items;
}

export async function cordonedIn(world: FleetWorld): Promise<string[]> {
  return (await nodesOf(world)).flatMap(({ metadata, spec }) => (spec?.unschedulable === true ? [metadata.name ?? ''] : []));
}

/** Somebody approves the step that the rollout is at, or another one. @returns the approvals */
export async function approve(world: FleetWorld, of?: number): Promise<object[]> {
  const { revision = '', step = 1 } = (await world.rollout('web')).status ?? {};
  const approvals = [{ step: of ?? step, revision, by: 'jane', at: '2026-03-01T00:00:00Z' }];
  await world.client.patch(rollouts, { name: 'web' }, { status: { approvals } }, { type: 'merge', subresource: 'status' });
  return approvals;
}

/** Changes the metadata or spec of a node, as people do. */
export async function patchNode({ client }: FleetWorld, name: string, patch: object): Promise<void> {
  await client.patch(nodes, { name }, patch, { type: 'merge' });
}

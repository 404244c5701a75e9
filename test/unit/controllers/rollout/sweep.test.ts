import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
import { nodesOf, FleetWorld } from '../../../support/fleet/fleet-world.ts';
import type { SeenCall } from '../../../support/simulated/intercepted.ts';

const WRITES: ReadonlySet<string> = new Set(['create', 'post', 'replace', 'patch', 'delete']);
/** Every so many writes of each trouble: all of them take minutes. */
const EVERY = Number(process.env['DKC_SWEEP_EVERY'] ?? 11);

const troubles = ['killed before', 'killed after', 'refused', 'conflict', 'answer lost'] as const;
type Trouble = (typeof troubles)[number];

/**
 * A rollout with drains, with a budget of the cluster, a bad configuration that is taken back, and trouble at the `at`-th write.
 * @returns how many writes there were
 */
async function play(trouble: Trouble, at: number): Promise<number> {
  await using world = await FleetWorld.start({ maxUnavailable: 1 });
  await world.addNodes(3);
  for (const node of ['node-0', 'node-1', 'node-2']) await world.addPod(`app-${node}`, node);
  const cordons = world.watchCordons();
  let writes = 0;
  let isDead = false;
  /** A process that is gone asks nothing any more; what is left of it ends with it. */
  const never = ({ signal }: SeenCall): Promise<never> =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('killed')), { once: true }));
  world.between = async (call: SeenCall, pass: () => Promise<unknown>): Promise<unknown> => {
    if (isDead) return never(call);
    if (!WRITES.has(call.verb) || call.resource.startsWith('events')) return pass();
    writes += 1;
    if (writes !== at) return pass();
    const about = { method: call.verb, path: call.resource, host: 'the test' };
    switch (trouble) {
      case 'killed before':
        isDead = true;
        return never(call);
      case 'killed after':
        isDead = true;
        await pass();
        return never(call);
      case 'refused':
        throw new ApiError(about, { code: 500, reason: 'InternalError', message: 'a fault' });
      case 'conflict':
        throw new ApiError(about, { code: 409, reason: 'Conflict', message: 'a fault' });
      case 'answer lost':
        await pass();
        throw new TransportError(about, 'cut', { hint: 'a fault' });
    }
  };
  const restartWhenDead = async (): Promise<void> => {
    if (!isDead) return;
    isDead = false;
    await world.restartController();
  };
  const phase = async (wanted: string, notOf?: string): Promise<NodeConfigRollout> => {
    for (let seconds = 0; seconds < 3_600; seconds++) {
      const rollout = await world.rollout('web');
      if (rollout.status?.phase === wanted && rollout.status.revision !== notOf) return rollout;
      await world.clock.advance(1_000);
      await restartWhenDead();
    }
    throw new Error(`${trouble} at write ${at}: never ${wanted}: ${JSON.stringify((await world.rollout('web')).status)}`);
  };
  await world.payload({ maxPods: 100 });
  await world.roll('web', { maxUnavailable: 1, steps: [{ nodes: '100%' }] });
  const good = (await phase('Complete')).status?.revision;
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.payload({ maxPods: 13 });
  await phase('RolledBack', good);
  await world.clock.advance(60_000);
  await restartWhenDead();
  await world.clock.advance(60_000);

  const context = `${trouble} at write ${at}`;
  const { status } = await world.rollout('web');
  assert.deepEqual([status?.nodes?.failed, status?.previousRevision], [1, good], context);
  assert.ok(
    world.agents.mostInFlight <= 1 && cordons.atOnce <= 1,
    `${context}: ${world.agents.mostInFlight} in flight, ${cordons.atOnce} cordoned`,
  );
  for (const { metadata, spec, status: of } of await nodesOf(world)) {
    assert.notEqual(spec?.unschedulable, true, `${context}: ${metadata.name} stays cordoned`);
    assert.deepEqual(
      of?.conditions?.map(({ type }) => type),
      ['Ready'],
      `${context}: ${metadata.name}`,
    );
  }
  return writes;
}

test('whatever happens at any write of the controller, the rollout comes to the same end, within its budgets', async (t) => {
  const all = await play('refused', -1);
  let runs = 0;
  for (const [nth, trouble] of troubles.entries())
    for (let at = 1 + (nth % EVERY); at <= all; at += EVERY) {
      await play(trouble, at);
      runs += 1;
    }
  t.diagnostic(`${runs} runs, ${all} writes in each`);
  assert.ok(runs > 0);
});

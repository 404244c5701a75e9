import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../../apiserver/faults/fault.ts';
import type { Millis } from '../../../base/clock.ts';
import { rollouts, type NodeConfigRollout, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { eventually } from '../../support/eventually.ts';
import { fleetStage } from '../../support/fleet/fleet-stage.ts';
import { MortalController } from '../../support/fleet/mortal-controller.ts';
import { createZoneRollout } from '../../support/fleet/zone-rollout.ts';

const NODES = Number(process.env['DKC_SHARED_BUDGET_NODES'] ?? 60);
const BUDGET = 4;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
const PATIENCE_MS: Millis = 300_000;
const pace = { trialDuration: 500, unhealthyDeadline: 120_000, maxKubeletExits: 3, syncInterval: 500, restartMs: 50 };

const faults: Fault[] = [
  { verb: 'patch', resource: 'nodeconfigs', action: { status: 500 }, ms: 0, probability: 0.02 },
  { verb: 'patch', resource: 'configmaps', action: { status: 409 }, ms: 0, probability: 0.05 },
  { verb: 'patch', resource: 'configmaps', action: 'half', ms: 0, probability: 0.02 },
  { verb: 'update', resource: 'nodeconfigrollouts/status', action: { status: 409 }, ms: 0, probability: 0.05 },
  { verb: '*', resource: '*', action: 'drop', ms: 0, probability: 0.005 },
];

test(`${NODES} agents, three rollouts, two controllers that both work and are killed: never more than ${BUDGET} nodes of the cluster are unavailable`, async (t) => {
  const stage = fleetStage(NODES, pace);
  const { api, record, client, fleet } = stage;
  const controllers = [new MortalController(api, BUDGET), new MortalController(api, BUDGET)];
  const statuses = async (): Promise<RolloutStatus[]> => (await client.list<NodeConfigRollout>(rollouts)).items.map(({ status }) => status ?? {}); // prettier-ignore
  /** Each rollout has a revision of its own: the counts are of one of them. */
  let next = 0;
  record.onTouched = (_, count) => {
    if (count % 6 === 3) queueMicrotask(() => void controllers[next++ % controllers.length]?.restart());
  };
  try {
    await fleet.start(AbortSignal.timeout(PATIENCE_MS));
    record.resetPeaks();
    for (const controller of controllers) await controller.start();
    for (const zone of ZONES) await createZoneRollout(client, zone, { nodeDeadline: '30m' });
    api.hooks.setFaults(faults);
    const from = performance.now();
    // Each has its turn: none waits until the others have ended.
    const first = await eventually(
      'one is complete',
      async () => {
        const all = await statuses().catch(() => []);
        return all.some(({ phase }) => phase === 'Complete') ? all : undefined;
      },
      PATIENCE_MS,
    );
    assert.ok(first.every(({ nodes }) => (nodes?.settled ?? 0) > 0), JSON.stringify(first.map(({ nodes }) => nodes?.settled))); // prettier-ignore
    await eventually(
      'all are complete',
      async () => (await statuses().catch(() => [])).filter(({ phase }) => phase === 'Complete').length === ZONES.length || undefined,
      PATIENCE_MS,
      async () => JSON.stringify(await statuses()),
    );
    const kills = controllers.reduce((sum, one) => sum + one.kills, 0);
    t.diagnostic(`${((performance.now() - from) / 1_000).toFixed(1)} s; peaks ${JSON.stringify(record.peaks)}; ${kills} kills`);
    assert.ok(record.peaks.unavailable <= BUDGET, `${record.peaks.unavailable} nodes were unavailable at once, not ${BUDGET}`);
    assert.ok(kills > 0);
  } finally {
    await stage.end(controllers);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../../apiserver/faults/fault.ts';
import { realClock, type Millis } from '../../../base/clock.ts';
import { configMap, KEY, NAMESPACE } from '../../../cli/demo/stage.ts';
import { rollouts, type NodeConfigRollout, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { configMaps } from '../../../kube/api/object.ts';
import { fleetStage } from '../../support/fleet/fleet-stage.ts';
import { MortalController } from '../../support/fleet/mortal-controller.ts';

const NODES = Number(process.env['DKC_FLEET_NODES'] ?? 5_000);
const BUDGET = 3;
const LOOK_MS: Millis = 200;
const PATIENCE_MS: Millis = 3_600_000;
const pace = { trialDuration: 1_000, unhealthyDeadline: 120_000, maxKubeletExits: 3, syncInterval: 1_000, restartMs: 100 };

const faults: Fault[] = [
  { verb: 'patch', resource: 'nodeconfigs', action: { status: 500 }, ms: 0, probability: 0.02 },
  { verb: 'create', resource: 'nodeconfigs', action: 'half', ms: 0, probability: 0.02 },
  { verb: 'update', resource: 'nodeconfigrollouts/status', action: { status: 409 }, ms: 0, probability: 0.05 },
  { verb: '*', resource: '*', action: 'drop', ms: 0, probability: 0.005 },
  { verb: 'watch', resource: 'nodeconfigs', action: 'early-gone', ms: 0, probability: 0.0005 },
];

test(`${NODES} agents: a good rollout completes and a bad one stops and is taken back, with a controller that is killed and calls that fail`, async (t) => {
  const stage = fleetStage(NODES, pace);
  const { api, record, client, fleet } = stage;
  const { storage } = api.hooks;
  const controller = new MortalController(api);
  const most = Math.floor(NODES / 10);
  const status = async (): Promise<RolloutStatus> =>
    (await client.get<NodeConfigRollout>(rollouts, { name: 'web' }).catch(() => undefined))?.status ?? {};
  const until = async (what: string, holds: (now: RolloutStatus) => boolean): Promise<RolloutStatus> => {
    for (let passed = 0; ; passed += LOOK_MS) {
      const now = await status();
      if (holds(now)) return now;
      assert.ok(passed < PATIENCE_MS, `${what}: ${JSON.stringify(now)}`);
      await realClock.sleep(LOOK_MS);
    }
  };
  /** Kills the controller whenever so many nodes were assigned what is rolled out now. */
  const killAt = (counts: readonly number[]): void => {
    const left = [...counts];
    record.onTouched = (_, count) => {
      if (left[0] === undefined || count < left[0]) return;
      left.shift();
      queueMicrotask(() => void controller.restart());
    };
  };
  const seconds = (from: number): string => ((performance.now() - from) / 1_000).toFixed(1);

  try {
    await controller.start();
    await fleet.start(AbortSignal.timeout(PATIENCE_MS));
    const writesBefore = storage.version;
    api.hooks.setFaults(faults);
    killAt([1, 2, Math.ceil(NODES * 0.07), Math.ceil(NODES * 0.4), Math.ceil(NODES * 0.95)]);
    const from = performance.now();
    const good = configMap('good');
    await retried(() => client.create(configMaps, { ...good, metadata: { ...good.metadata, name: 'web' } }));
    const spec = {
      nodeSelector: {},
      configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: KEY },
      failureBudget: BUDGET,
      nodeDeadline: '30m',
    };
    await retried(() =>
      client.create(rollouts, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: 'web' }, spec }),
    );
    await until('the first canary', () => record.touched.size > 0);
    t.diagnostic(`first canary assigned after ${seconds(from)} s`);
    const { revision = '', nodes: counts } = await until('the good rollout is complete', ({ phase }) => phase === 'Complete');
    t.diagnostic(`complete after ${seconds(from)} s; ${((storage.version - writesBefore) / NODES).toFixed(1)} stored writes per node; peaks ${JSON.stringify(record.peaks)}`); // prettier-ignore
    assert.deepEqual(counts, { selected: NODES, updated: NODES, settled: NODES, inFlight: 0, failed: 0, refused: 0 });
    assert.ok(record.peaks.unavailable <= most, `${record.peaks.unavailable} nodes were unavailable at once, not ${most}`);

    record.resetPeaks();
    const bad = configMap('deadly');
    killAt([1, 2, Math.ceil(NODES * 0.05)]);
    const badFrom = performance.now();
    const change = { data: bad['data'], metadata: { annotations: bad.metadata.annotations } };
    await retried(() => client.patch(configMaps, { name: 'web', namespace: NAMESPACE }, change, { type: 'merge' }));
    const stopped = await until('the bad rollout stops', (now) => now.stopped !== undefined);
    await controller.restart();
    assert.equal(stopped.stopped, 'Failures');
    const touchedAtStop = record.touched.get(stopped.revision ?? '')?.size ?? 0;
    await until('the bad rollout is taken back', ({ phase }) => phase === 'RolledBack');
    const touched = record.touched.get(stopped.revision ?? '')?.size ?? 0;
    t.diagnostic(`stopped and taken back after ${seconds(badFrom)} s; ${touched} nodes ever touched, ${fleet.crashed.size} kubelets crashed; peaks ${JSON.stringify(record.peaks)}; ${controller.kills} kills; ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`); // prettier-ignore
    assert.equal(touched, touchedAtStop, 'no node is touched after the stop');
    assert.ok(fleet.crashed.size >= BUDGET && fleet.crashed.size <= most, `${fleet.crashed.size} kubelets crashed`);
    assert.ok(record.peaks.unavailable <= most, `${record.peaks.unavailable} nodes were unavailable at once, not ${most}`);
    assert.deepEqual([record.assigned(revision), record.assigned(stopped.revision ?? '')], [NODES, 0]);
    assert.ok(controller.kills >= 6, `${controller.kills} kills`);
  } finally {
    await stage.end([controller]);
  }
});

/** An admin tries again, too. */
async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === 10) throw error;
      await realClock.sleep(LOOK_MS);
    }
  }
}

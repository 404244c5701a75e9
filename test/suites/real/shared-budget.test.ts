import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { type Millis, realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { FleetRecord } from '../../../cli/demo/fleet/fleet-record.ts';
import { LightFleet } from '../../../cli/demo/fleet/light-fleet.ts';
import { NAMESPACE } from '../../../cli/demo/stage.ts';
import { readRecord, RECORD } from '../../../controllers/rollout/cluster/record.ts';
import { type NodeConfigRollout, rollouts, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { definitions } from '../../../deploy/manifests.ts';
import { configMaps, type KubeObject, namespaces, nodes, type Resource } from '../../../kube/api/object.ts';
import { Informers } from '../../../kube/cache/informers.ts';
import type { Client } from '../../../kube/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { createZoneRollout } from '../../support/fleet/zone-rollout.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { startSubject } from './cluster/controllers.ts';
import { ACCOUNT, accountToken, allowRollouts } from './cluster/rollout-account.ts';
import { withRealParts } from './suite.ts';

const NODES = 15;
const BUDGET = 3;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
/** Nodes that have been touched when a controller is killed. */
const KILLS = [2, 5, 9];
const pace = { trialDuration: 300, unhealthyDeadline: 120_000, maxKubeletExits: 3, syncInterval: 300, restartMs: 50 };
const PATIENCE_MS: Millis = 120_000;
const crds: Resource = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions', kind: 'CustomResourceDefinition', namespaced: false }; // prettier-ignore

interface Write {
  kind: string;
  type: 'MODIFIED' | 'DELETED';
  object: Readonly<KubeObject>;
}

/** Every write of Nodes and NodeConfigs that the server tells of. @returns once it tells of all that is there */
async function follow(client: Client, onWrite: (write: Write) => void, signal: AbortSignal): Promise<void> {
  const informers = new Informers({ client, clock: realClock, random: seededRandom(1), log: silentLog });
  for (const resource of [nodes, nodeConfigs]) {
    const kind = `${resource.group}/${resource.resource}`;
    informers.of(resource, { fields: 'all' }).addHandlers('record', {
      added: (object) => onWrite({ kind, type: 'MODIFIED', object }),
      updated: (_, object) => onWrite({ kind, type: 'MODIFIED', object }),
      deleted: (object) => onWrite({ kind, type: 'DELETED', object }),
    });
  }
  void informers.run(signal);
  await informers.whenSynced(signal);
}

/** What the fleet went through. Two watches tell of two kinds, each at its pace: the version says which write was before which. */
function replayed(writes: readonly Write[], from: bigint): FleetRecord {
  const record = new FleetRecord();
  const versionOf = ({ object }: Write): bigint => BigInt(object.metadata.resourceVersion ?? 0);
  let isReset = false;
  for (const write of writes.toSorted((a, b) => (versionOf(a) < versionOf(b) ? -1 : 1))) {
    if (!isReset && versionOf(write) > from) record.resetPeaks();
    isReset ||= versionOf(write) > from;
    record.see(write.kind, { key: write.object.metadata.name ?? '', type: write.type, object: write.object });
  }
  return record;
}

const release = await givenRelease();
await withRealParts(
  `the budget of the whole cluster on a real API server ${release.version}`,
  ['etcd', 'kube-apiserver'],
  () => {
    test(`${NODES} nodes, three rollouts, two controllers that both work and are killed: never more than ${BUDGET} nodes are unavailable`, async (t) => {
      const plane = await startControlPlane({ release, extraTokens: [accountToken] });
      t.after(() => plane.stop());
      const client = adminClient(plane);
      t.after(() => client.close());
      for (const definition of definitions({ cel: release.minor >= 28 })) await client.create(crds, definition);
      await eventually('NodeConfigRollouts are served', () => client.list(rollouts).then(() => true as const, () => undefined), 30_000); // prettier-ignore
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
      await allowRollouts(client);
      const ending = new AbortController();
      t.after(() => ending.abort());
      const writes: Write[] = [];
      const assigned = new Set<string>();
      await follow(
        client,
        (write) => {
          writes.push(write);
          if ((write.object as { spec?: { configMap?: unknown } }).spec?.configMap) assigned.add(write.object.metadata.name ?? '');
        },
        ending.signal,
      );
      const agents = adminClient(plane);
      t.after(() => agents.close());
      await using fleet = new LightFleet({ count: NODES, pace, clock: realClock, random: seededRandom(3), version: '0.1.0', client: agents }); // prettier-ignore
      await fleet.start(AbortSignal.timeout(PATIENCE_MS));

      const byRole = { ...plane, kubeconfig: () => plane.kubeconfig(ACCOUNT) };
      const flags = ['--leader-elect=false', `--rollout-max-unavailable=${BUDGET}`];
      const start = () => startSubject('dkc', byRole, flags, 'rollout');
      const [one, other] = await Promise.all([start(), start()]);
      await using _one = one;
      await using _other = other;
      const from = BigInt((await client.list(nodes)).metadata.resourceVersion ?? 0);
      const began = performance.now();
      // One of them drains its nodes: their cordons count as well.
      for (const [at, zone] of ZONES.entries()) await createZoneRollout(client, zone, { drain: at === 0 ? 'Always' : 'Never' });
      const statuses = async (): Promise<RolloutStatus[]> => (await client.list<NodeConfigRollout>(rollouts)).items.map(({ status }) => status ?? {}); // prettier-ignore
      for (const [at, count] of KILLS.entries()) {
        await eventually(`${count} nodes are touched`, () => assigned.size >= count, PATIENCE_MS, async () => JSON.stringify(await statuses())); // prettier-ignore
        const victim = at % 2 === 0 ? one : other;
        await victim.kill();
        void victim.start().catch(() => {});
      }
      await eventually(
        'all are complete',
        async () => (await statuses()).every(({ phase }) => phase === 'Complete'),
        PATIENCE_MS,
        async () => JSON.stringify(await statuses()),
      );
      await eventually('nodes are given back', async () => {
        const { items } = await client.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodes);
        return items.every(({ spec }) => spec?.unschedulable !== true);
      });
      const { peaks } = replayed(writes, from);
      t.diagnostic(`${((performance.now() - began) / 1_000).toFixed(1)} s; ${writes.length} writes; peaks ${JSON.stringify(peaks)}`);
      assert.ok(peaks.unavailable <= BUDGET, `${peaks.unavailable} nodes were unavailable at once, not ${BUDGET}`);
      // A budget that is never used up would prove nothing.
      assert.equal(peaks.unavailable, BUDGET);
      assert.ok(peaks.cordoned > 0);
      const record = await client.get<KubeObject & { data?: Record<string, string> }>(configMaps, { name: RECORD, namespace: NAMESPACE });
      assert.equal(readRecord(record).maxUnavailable, String(BUDGET));
      for (const { logFile } of [one, other]) assert.doesNotMatch(await readFile(logFile, 'utf8'), /forbidden/i);
    });
  },
  release,
);

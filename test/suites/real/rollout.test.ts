import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Millis, realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { FleetRecord } from '../../../cli/demo/fleet/fleet-record.ts';
import { LightFleet } from '../../../cli/demo/fleet/light-fleet.ts';
import { configMap, KEY, NAMESPACE } from '../../../cli/demo/stage.ts';
import { readRecord, RECORD } from '../../../controllers/rollout/cluster/record.ts';
import { type NodeConfigRollout, rollouts, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { configMaps, type KubeObject, nodes, pods } from '../../../kube/api/object.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { Informers } from '../../../kube/cache/informers.ts';
import type { Client } from '../../../kube/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { comparedReleases, givenRelease } from '../../support/real-parts/release.ts';
import { startSubject } from './cluster/controllers.ts';
import { addEvictable, pace, rolloutPlane } from './cluster/rollout-account.ts';
import { ofRelease } from './suite.ts';

const NODES = Number(process.env['DKC_FLEET_NODES'] ?? 60);
const BUDGET = 2;
/** kube-apiserver takes 100 requests at once on one connection, and each watch of an agent is one. */
const AGENTS_OF_A_CONNECTION = 15;
/** For each stage of a rollout. */
const PATIENCE_MS: Millis = Math.max(300_000, NODES * 3_000);

type Write = { kind: string; type: 'MODIFIED' | 'DELETED'; object: Readonly<KubeObject> };

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

const see = (record: FleetRecord, { kind, type, object }: Write): void =>
  record.see(kind, { key: object.metadata.name ?? '', type, object });

for (const release of await comparedReleases('rollout'))
  await ofRelease(release, `rollouts on a real API server ${release.version}`, ['etcd', 'kube-apiserver', 'kubectl'], () => {
    test(`${NODES} nodes: a good one completes though the controller is killed, a bad one stops at its budget and is taken back`, async (t) => {
      const { plane, connect, client, signal, byRole } = await rolloutPlane(t, release);
      const connections = Array.from({ length: Math.ceil(NODES / AGENTS_OF_A_CONNECTION) }, connect);
      const clientOf = (at: number): Client => connections[Math.floor(at / AGENTS_OF_A_CONNECTION)] ?? client;
      await client.create(configMaps, { ...configMap('good'), metadata: { name: 'web', namespace: NAMESPACE } });
      const record = new FleetRecord();
      await follow(client, (write) => see(record, write), signal);
      await using fleet = new LightFleet({
        count: NODES,
        pace,
        clock: realClock,
        random: seededRandom(3),
        version: '0.1.0',
        client,
        clientOf,
      });
      await fleet.start(AbortSignal.timeout(PATIENCE_MS));
      const [node] = (await client.list<KubeObject>(nodes)).items;
      await addEvictable(client, node?.metadata.name ?? '');
      record.resetPeaks();

      await using controller = await startSubject('dkc', byRole, ['--leader-elect=false'], 'rollout');
      const { kubectl: program } = await release.programs(['kubectl']);
      const kubectl = await Kubectl.start(program, plane.kubeconfig());
      t.after(() => kubectl.stop());
      const from = performance.now();
      await client.create<NodeConfigRollout>(rollouts, {
        apiVersion: 'dkc.dev/v1alpha1',
        kind: 'NodeConfigRollout',
        metadata: { name: 'web' },
        spec: {
          nodeSelector: {},
          configMap: { namespace: NAMESPACE, name: 'web', kubeletConfigKey: KEY },
          drain: 'Always',
          failureBudget: BUDGET,
        },
      });
      const rollout = () => client.get<NodeConfigRollout>(rollouts, { name: 'web' });
      const comesTo = (what: string, holds: (status: NonNullable<NodeConfigRollout['status']>) => boolean) =>
        eventually(
          what,
          async () => (await rollout().then(({ status }) => status !== undefined && holds(status))) || undefined,
          PATIENCE_MS,
        );
      await comesTo('some nodes have the revision', ({ nodes: of }) => (of?.settled ?? 0) >= 2);
      await controller.kill();
      await controller.start();
      await comesTo('the good one is complete', ({ phase }) => phase === 'Complete');
      assert.match(await kubectl.good('wait --for=condition=Complete nodeconfigrollouts.dkc.dev/web --timeout=60s'), /condition met/);
      const { status: good } = await rollout();
      t.diagnostic(`${NODES} nodes, each drained, in ${Math.round(performance.now() - from)} ms; peaks ${JSON.stringify(record.peaks)}`);
      assert.deepEqual([good?.nodes?.settled, good?.nodes?.failed], [NODES, 0]);
      const most = Math.max(1, Math.floor(NODES / 10));
      assert.ok(
        Math.min(record.peaks.cordoned, record.peaks.inFlight) > 0 && record.peaks.unavailable <= most,
        `peaks ${JSON.stringify(record.peaks)}, not ${most}`,
      );
      await assert.rejects(client.get(pods, { name: 'app', namespace: 'default' }), /not found/, 'its node was drained');

      record.resetPeaks();
      const bad = configMap('deadly');
      const change = { data: bad['data'], metadata: { annotations: bad.metadata.annotations } };
      await client.patch(configMaps, { name: 'web', namespace: NAMESPACE }, change, { type: 'merge' });
      await comesTo('the bad one stops', ({ stopped }) => stopped !== undefined);
      await comesTo('it is taken back', ({ phase }) => phase === 'RolledBack');
      const { status: stopped } = await rollout();
      const touched = record.touched.get(stopped?.revision ?? '')?.size ?? 0;
      t.diagnostic(`stopped and taken back: ${touched} nodes touched, ${fleet.crashed.size} kubelets crashed; peaks ${JSON.stringify(record.peaks)}; ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB with all agents`); // prettier-ignore
      assert.equal(stopped?.previousRevision, good?.revision);
      assert.ok((stopped?.nodes?.failed ?? 0) >= BUDGET && touched > 0 && touched < NODES, JSON.stringify(stopped?.nodes));
      assert.ok(record.peaks.unavailable <= most, `peaks ${JSON.stringify(record.peaks)}, not ${most}`);
      assert.equal(record.assigned(stopped?.revision ?? ''), 0);
      const cordoned = await eventually('nodes are given back', async () => {
          const { items } = await client.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodes);
          const left = items.filter(({ metadata, spec }) => spec?.unschedulable === true || metadata.annotations?.['dkc.dev/drained-by'] !== undefined);
          return left.length === 0 ? 'none' : undefined;
        }, 60_000); // prettier-ignore
      assert.equal(cordoned, 'none');
      assert.match(await kubectl.good('get nodeconfigrollouts.dkc.dev web'), /RolledBack/);
      assert.match(await kubectl.good('get events --namespace=default'), /NodeFailed +nodeconfigrollout\/web/i);
      // All that it did, it did by its documented rights.
      assert.doesNotMatch(await readFile(controller.logFile, 'utf8'), /forbidden/i);
    });
  });

/** Of the budget that rollouts share. */
const FEW = 15;
const SHARED = 3;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
/** Nodes that have been touched when a controller is killed. */
const KILLS = [2, 5, 9];
const quick = { ...pace, trialDuration: 300, syncInterval: 300, restartMs: 50 };
const SHORT_MS: Millis = 120_000;

/** What the fleet went through. Two watches tell of two kinds, each at its pace: the version says which write was before which. */
function replayed(writes: readonly Write[], from: bigint): FleetRecord {
  const record = new FleetRecord();
  const versionOf = ({ object }: Write): bigint => BigInt(object.metadata.resourceVersion ?? 0);
  let isReset = false;
  for (const write of writes.toSorted((a, b) => (versionOf(a) < versionOf(b) ? -1 : 1))) {
    if (!isReset && versionOf(write) > from) record.resetPeaks();
    isReset ||= versionOf(write) > from;
    see(record, write);
  }
  return record;
}

const today = await givenRelease();
await ofRelease(today, `the budget of the whole cluster on a real API server ${today.version}`, ['etcd', 'kube-apiserver'], () => {
  test(`${FEW} nodes, three rollouts, two controllers that both work and are killed: never more than ${SHARED} nodes are unavailable`, async (t) => {
    const { connect, client, signal, byRole } = await rolloutPlane(t, today);
    const writes: Write[] = [];
    const assigned = new Set<string>();
    await follow(
      client,
      (write) => {
        writes.push(write);
        if ((write.object as { spec?: { configMap?: unknown } }).spec?.configMap) assigned.add(write.object.metadata.name ?? '');
      },
      signal,
    );
    await using fleet = new LightFleet({ count: FEW, pace: quick, clock: realClock, random: seededRandom(3), version: '0.1.0', client: connect() }); // prettier-ignore
    await fleet.start(AbortSignal.timeout(SHORT_MS));

    const flags = ['--leader-elect=false', `--rollout-max-unavailable=${SHARED}`];
    const start = () => startSubject('dkc', byRole, flags, 'rollout');
    const [one, other] = await Promise.all([start(), start()]);
    await using _one = one;
    await using _other = other;
    const from = BigInt((await client.list(nodes)).metadata.resourceVersion ?? 0);
    const began = performance.now();
    // One of them drains its nodes: their cordons count as well.
    for (const [at, zone] of ZONES.entries()) {
      const { metadata, ...map } = configMap('good');
      await client.create(configMaps, { ...map, metadata: { ...metadata, name: zone } });
      await client.create<NodeConfigRollout>(rollouts, {
        apiVersion: 'dkc.dev/v1alpha1',
        kind: 'NodeConfigRollout',
        metadata: { name: zone },
        spec: {
          nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': zone } },
          configMap: { namespace: NAMESPACE, name: zone, kubeletConfigKey: KEY },
          maxUnavailable: '100%',
          steps: [{ nodes: '100%' }],
          drain: at === 0 ? 'Always' : 'Never',
        },
      });
    }
    const statuses = async (): Promise<RolloutStatus[]> => (await client.list<NodeConfigRollout>(rollouts)).items.map(({ status }) => status ?? {}); // prettier-ignore
    for (const [at, count] of KILLS.entries()) {
      await eventually(`${count} nodes are touched`, () => assigned.size >= count, SHORT_MS, async () => JSON.stringify(await statuses())); // prettier-ignore
      const victim = at % 2 === 0 ? one : other;
      await victim.kill();
      void victim.start().catch(() => {});
    }
    await eventually(
      'all are complete',
      async () => (await statuses()).every(({ phase }) => phase === 'Complete'),
      SHORT_MS,
      async () => JSON.stringify(await statuses()),
    );
    await eventually('nodes are given back', async () => {
      const { items } = await client.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodes);
      return items.every(({ spec }) => spec?.unschedulable !== true);
    });
    const { peaks } = replayed(writes, from);
    t.diagnostic(`${((performance.now() - began) / 1_000).toFixed(1)} s; ${writes.length} writes; peaks ${JSON.stringify(peaks)}`);
    assert.ok(peaks.unavailable <= SHARED, `${peaks.unavailable} nodes were unavailable at once, not ${SHARED}`);
    // A budget that is never used up would prove nothing.
    assert.equal(peaks.unavailable, SHARED);
    assert.ok(peaks.cordoned > 0);
    const record = await client.get<KubeObject & { data?: Record<string, string> }>(configMaps, { name: RECORD, namespace: NAMESPACE });
    assert.equal(readRecord(record).maxUnavailable, String(SHARED));
    for (const { logFile } of [one, other]) assert.doesNotMatch(await readFile(logFile, 'utf8'), /forbidden/i);
  });
});

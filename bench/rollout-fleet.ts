import { realClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { startFleetServer } from '../cli/demo/fleet/fleet-stage.ts';
import { LightFleet } from '../cli/demo/fleet/light-fleet.ts';
import { KEY, NAMESPACE } from '../cli/demo/stage.ts';
import { rollouts, type NodeConfigRollout } from '../controllers/rollout/types.ts';
import { configMaps } from '../kube/api/object.ts';
import { freePorts } from '../test/support/real-parts/free-ports.ts';
import { numberOf } from './daemonset/number.ts';
import type { Figure } from './figure.ts';
import { dkcPlan, startPlan } from './subject.ts';

const pace = { trialDuration: 1_000, unhealthyDeadline: 120_000, maxKubeletExits: 3, syncInterval: 1_000, restartMs: 100 };
const PATIENCE_MS = 3_600_000;
const LOOK_MS = 20;

/**
 * A rollout on 5,000 light nodes (DKC_NODES), without holds, without drains (DKC_DRAIN) and without a limit of unavailable nodes: time from the edit of its
 * ConfigMap until the first node, and all nodes, are assigned. The API server and all agents run in this process, and slow each other down; the controller,
 * whose costs count, runs in a separate one. Runs only if named.
 */
export async function rolloutFleet(): Promise<Figure[]> {
  const count = numberOf(process.env, 'DKC_NODES', 5_000);
  await using undo = new AsyncDisposableStack();
  const [clock, random, log] = [realClock, seededRandom(3), silentLog] as const;
  const { directory, kubeconfig, record, client, agents } = await startFleetServer({ clock, random, log }, 'the benchmark', undo);
  const fleet = undo.use(new LightFleet({ count, pace, clock, random, version: '0.1.0', client: agents }));
  const [port = 0] = await freePorts(1);
  const command = ['controllers', 'run', '--controllers=rollout', `--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  const subject = undo.use(await startPlan('dkc', dkcPlan(command, { port, directory }), directory));
  await fleet.start(AbortSignal.timeout(PATIENCE_MS));
  console.error(`  ${count} agents run`);

  const until = async (holds: () => Promise<boolean> | boolean): Promise<number> => {
    const from = performance.now();
    while (!(await holds())) {
      if (performance.now() - from > PATIENCE_MS) throw new Error(`it did not happen: ${JSON.stringify(record.peaks)}`);
      await clock.sleep(LOOK_MS);
    }
    return (performance.now() - from) / 1_000;
  };
  const status = async () => (await client.get<NodeConfigRollout>(rollouts, { name: 'web' })).status;
  const source = (maxPods: number) => ({ [KEY]: `${head}maxPods: ${maxPods}\n` });
  const metadata = { name: 'web', namespace: NAMESPACE };
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: source(120) });
  const spec = {
    nodeSelector: {},
    configMap: { ...metadata, kubeletConfigKey: KEY },
    maxUnavailable: '100%',
    steps: [{ nodes: '100%' }],
    drain: process.env['DKC_DRAIN'] ?? 'Never',
  };
  await client.create(rollouts, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: 'web' }, spec });
  const first = await until(async () => (await status())?.phase === 'Complete');
  console.error(`  the first configuration is everywhere after ${first.toFixed(1)} s`);

  const before = { usage: subject.usage(), requests: await requestsOf(port), revision: (await status())?.revision };
  const touched = (): number =>
    [...record.touched].filter(([name]) => name !== before.revision).reduce((sum, [, { size }]) => sum + size, 0);
  await client.patch(configMaps, metadata, { data: source(121) }, { type: 'merge' });
  const canary = await until(() => touched() > 0);
  const assigned = canary + (await until(() => touched() >= count));
  await until(async () => (await status())?.complete === true);
  const usage = subject.usage();
  const requests = (await requestsOf(port)) - before.requests;
  const figure = (what: string, unit: string, value: number): Figure => ({
    what: `rollout, ${count.toLocaleString('en')} nodes: ${what}`,
    ours: { name: 'dkc', unit, values: [value] },
  });
  return [
    figure('edit to first canary assigned', 's', canary),
    figure('edit to all assigned, no holds', 's', assigned),
    figure('API calls of the controller per node', 'calls', requests / count),
    figure('processor time of the controller', 's', (usage.cpuMs - before.usage.cpuMs) / 1_000),
    figure('memory of the controller, the most there was', 'MB', usage.peakMb),
  ];
}

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Number of requests of the process, including events and watches. */
async function requestsOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^rest_client_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { rollouts, type NodeConfigRollout, type RolloutStatus } from '../../../../controllers/rollout/types.ts';
import { nodes, pods, type Kube } from '../../../../kube/api/object.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.js';
import type { Client } from '../../../../kube/client/client.ts';
import { LightAgents } from '../../../support/fleet/light-agents.ts';
import { HollowNodes } from '../../../support/hollow/hollow-nodes.ts';
import { adminClient } from '../../../support/real-parts/admin-client.ts';
import { eventually } from '../../../support/eventually.ts';
import { run } from '../../systemd/inside/program.ts';
import { scenario } from '../../systemd/inside/scenario.ts';
import { systemctl } from '../../systemd/inside/systemctl.ts';
import { LOCAL_PODS, overlay } from '../inside/configs.ts';
import { NAMESPACE, NODE } from '../inside/names.ts';
import { ADMIN, releaseCluster, writePrivate, type ReleaseCluster } from '../inside/release-cluster.ts';
import { configureAgent, crashes, dkc, healthyOn, journal, since, starts } from '../inside/node.ts';

const LIGHT = ['node-1', 'node-2'];
const CONTROLLER = { token: 'controllertoken', user: 'system:serviceaccount:dkc-system:dkc-rollout-controller', groups: [] };
const CONTROLLER_KUBECONFIG = '/etc/dkc/controllers.conf';
/** In s; a busy machine takes its time. */
const WAIT = '--timeout=240s';

/** A Node at an end of a rollout. */
export interface NodeThen {
  unschedulable: boolean;
  lifecycle: string[];
  annotations: string[];
  ready: string | undefined;
}

export interface Outcome {
  status: RolloutStatus;
  /** From the change of the ConfigMap or the creation, in ms. */
  ms: number;
  /** ConfigMap that each node is assigned and uses. */
  active: Record<string, string>;
  nodes: Record<string, NodeThen>;
  /** Lives of the real kubelet, and ends that nobody asked for, in all of the run so far. */
  starts: number;
  crashes: number;
}

export interface ThreeNodes {
  good: Outcome & { blocked: string; waited: string };
  bad: Outcome & { watched: { code: number; stdout: string; stderr: string }; failures: string };
  /** Over the whole run, from the watch: the most nodes cordoned at once, and the fewest pods of the application that were Ready. */
  seen: { mostCordoned: number; fewestReady: number };
  /** Of each node, the pods of the application that were evicted. */
  evictedFrom: string[];
  /** The pod of a DaemonSet on the real node, before and after. */
  daemon: { before: string; after: string };
  /** What the controller was refused by the API server, and events on the real Node by our writers. */
  forbidden: string[];
  events: string[];
}

const start = promisify(execFile);
/** Runs a command of dkc beside what goes on in this process. */
const dkcBeside = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  start('/usr/lib/dkc/node', ['/usr/lib/dkc/dkc.js', ...args, `--kubeconfig=${ADMIN}`]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  );

/** The rights of the controller as `dkc deploy manifests --image` gives them, without its Deployment: it runs as a unit here. */
function allowController({ kubectl, plane }: ReleaseCluster): void {
  const printed = dkc('deploy', 'manifests', `--kubernetes-version=${plane.release.version}`, '--image=dkc:0').stdout;
  const items = parseAllDocuments(printed).map((document) => document.toJS() as { kind: string }).filter(({ kind }) => kind !== 'Deployment'); // prettier-ignore
  writePrivate('/run/controller.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  kubectl('apply', '-f', '/run/controller.json');
}

function application(): object[] {
  const selector = (app: string) => ({ matchLabels: { app } });
  const template = (app: string, spec: object = {}) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'app:1' }], terminationGracePeriodSeconds: 1, ...spec },
  });
  const apart = { podAffinityTerm: { labelSelector: selector('shop'), topologyKey: 'kubernetes.io/hostname' }, weight: 100 };
  const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] } };
  const of = (kind: string, name: string, spec: object, apiVersion = 'apps/v1') => ({ apiVersion, kind, metadata: { name }, spec });
  return [
    of('PodDisruptionBudget', 'shop', { minAvailable: 3, selector: selector('shop') }, 'policy/v1'),
    of('Deployment', 'shop', { replicas: 3, selector: selector('shop'), template: template('shop', { affinity }) }),
    of('DaemonSet', 'log', { selector: selector('log'), template: template('log') }),
  ];
}

const isReady = (object: { status?: { conditions?: { type: string; status: string }[] } }): boolean =>
  object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Follows nodes and pods until the signal aborts. */
function follow(client: Client, signal: AbortSignal): Pick<ThreeNodes, 'seen' | 'evictedFrom'> & { begin(): void } {
  const [cordoned, ready] = [new Set<string>(), new Set<string>()];
  const result = { seen: { mostCordoned: 0, fewestReady: Infinity }, evictedFrom: [] as string[], begins: false };
  const watchNodes = async (): Promise<void> => {
    for await (const { type, object } of client.watch<Kube<Node>>(nodes, {}, signal)) {
      if (type === 'BOOKMARK') continue;
      const { name = '' } = object.metadata;
      if (object.spec?.unschedulable === true) cordoned.add(name);
      else cordoned.delete(name);
      result.seen.mostCordoned = Math.max(result.seen.mostCordoned, cordoned.size);
    }
  };
  const watchPods = async (): Promise<void> => {
    for await (const { type, object } of client.watch<Kube<Pod>>(pods, { labelSelector: 'app=shop' }, signal)) {
      if (type === 'BOOKMARK') continue;
      const { name = '', deletionTimestamp } = object.metadata;
      if (type === 'DELETED' && result.begins) result.evictedFrom.push(object.spec?.nodeName ?? '');
      if (type !== 'DELETED' && deletionTimestamp === undefined && isReady(object)) ready.add(name);
      else ready.delete(name);
      if (result.begins) result.seen.fewestReady = Math.min(result.seen.fewestReady, ready.size);
    }
  };
  for (const watch of [watchNodes, watchPods]) void watch().catch((error: unknown) => signal.aborted || console.error(error));
  return { ...result, begin: () => void (result.begins = true) };
}

await scenario(async ({ programs }: { programs: string }): Promise<ThreeNodes> => {
  const controllers = 'deployment,replicaset,daemonset,disruption';
  const cluster = await releaseCluster(programs, { scheduler: true, controllers, extraTokens: [CONTROLLER] });
  const { api, plane, kubectl } = cluster;
  allowController(cluster);
  const client = adminClient(plane);
  const ending = new AbortController();

  systemctl('start', 'kubelet.service');
  const hollow = new HollowNodes({ client, clock: realClock, log: silentLog, heartbeatMs: 1_000 });
  void hollow.run(ending.signal);
  await hollow.add(LIGHT.map((name) => ({ name, kubeletVersion: `v${plane.release.version}` })));
  const agents = new LightAgents(client, realClock, { active: 200, trial: 500, condemned: 500 });
  void agents.run();
  for (const name of LIGHT) await agents.join(name);
  await healthyOn(LOCAL_PODS);
  const isUp = async (name: string) => isReady(await client.get<Kube<Node>>(nodes, { name }).catch((): Kube<Node> => ({ metadata: {} })));
  await eventually('the real Node is Ready', () => isUp(NODE));

  const followed = follow(client, ending.signal);
  writePrivate('/run/application.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: application() }));
  kubectl('apply', '-f', '/run/application.json');
  const podsOf = async (app: string): Promise<Kube<Pod>[]> => (await client.list<Kube<Pod>>(pods, { labelSelector: `app=${app}` })).items;
  const placed = async (app: string): Promise<string> => (await podsOf(app)).filter(isReady).map(({ spec }) => spec?.nodeName ?? '').toSorted((a, b) => (a < b ? -1 : 1)).join(' '); // prettier-ignore
  for (const app of ['shop', 'log'])
    await eventually(`${app} runs on each node`, async () => (await placed(app)) === 'node-0 node-1 node-2', 120_000, () => kubectl('get', 'pods', '-o', 'wide')); // prettier-ignore
  const daemon = async (): Promise<string> => {
    const pod = (await podsOf('log')).find(({ spec }) => spec?.nodeName === NODE);
    return `${pod?.metadata.uid} ${pod?.status?.phase} ${pod?.status?.containerStatuses?.map(({ restartCount, containerID }) => `${restartCount} ${containerID}`).join()}`; // prettier-ignore
  };
  const daemonBefore = await daemon();

  writePrivate(CONTROLLER_KUBECONFIG, plane.kubeconfig(CONTROLLER.token));
  const lease = ['--leader-elect-resource-namespace=dkc-system', '--leader-elect-resource-name=dkc-rollout'];
  const flags = [`--kubeconfig=${CONTROLLER_KUBECONFIG}`, '--metrics-bind-address=127.0.0.1:0', '--page-bind-address=', ...lease];
  run(
    'systemd-run',
    '--quiet',
    '--unit=dkc-controllers',
    '/usr/lib/dkc/node',
    '/usr/lib/dkc/dkc.js',
    'controllers',
    'run',
    '--controllers=rollout',
    ...flags,
  );
  const controllerLog = (): string => journal('dkc-controllers').join('\n');

  const rollout = () => client.get<NodeConfigRollout>(rollouts, { name: 'web' });
  const until = (what: string, fits: (status: RolloutStatus) => boolean): Promise<RolloutStatus> =>
    eventually(
      what,
      async () => rollout().then(({ status }) => (status !== undefined && fits(status) ? status : undefined)),
      240_000,
      async () => `${JSON.stringify((await rollout()).status)}\n${controllerLog().slice(-4_000)}`,
    );
  const outcome = async (status: RolloutStatus, from: number): Promise<Outcome> => {
    const ms = since(from);
    const names = [NODE, ...LIGHT];
    const [active, then] = [{} as Record<string, string>, {} as Record<string, NodeThen>];
    for (const name of names) {
      active[name] = kubectl('get', 'nodeconfig', name, '-o', 'jsonpath={.spec.configMap.name} {.status.active.configMap.name}');
      then[name] = await eventually(`${name} is given back`, async () => {
        const node = await client.get<Kube<Node>>(nodes, { name });
        const lifecycle = (node.status?.conditions ?? []).filter(({ type }) => /Maintenance|Drain/.test(type)).map(({ type }) => type);
        const annotations = Object.keys(node.metadata.annotations ?? {}).filter((key) => key.includes('drain') || key.includes('cordon'));
        const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
        const found = { unschedulable: node.spec?.unschedulable === true, lifecycle, annotations, ready };
        return found.ready === 'True' && lifecycle.length === 0 && annotations.length === 0 ? found : undefined;
      });
    }
    return { status, ms, active, nodes: then, starts: starts(), crashes: crashes() };
  };

  // The good one: maxPods needs a drain, and the budget of the application lets nobody go at first.
  writePrivate('/run/kubelet.yaml', overlay({ maxPods: 120 }));
  kubectl('-n', NAMESPACE, 'create', 'configmap', 'web', '--from-file=kubelet=/run/kubelet.yaml');
  followed.begin();
  let from = performance.now();
  const created = await dkcBeside('rollout', 'create', 'web', `--configmap=${NAMESPACE}/web`, '--key=kubelet', '--all', '--steps=1,100%');
  if (created.code !== 0) throw new Error(created.stderr);
  const { message: blocked = '' } = await until('an eviction is refused', ({ message = '' }) => message.includes('disruption budget'));
  kubectl('patch', 'pdb', 'shop', '--type=merge', '-p', JSON.stringify({ spec: { minAvailable: 2 } }));
  const completed = await until('it is complete', ({ phase }) => phase === 'Complete');
  const waited = kubectl('wait', '--for=condition=Complete', 'ncr/web', WAIT);
  await healthyOn(120);
  const good = { ...(await outcome(completed, from)), blocked, waited };
  await eventually('the application is back', async () => (await placed('shop')).split(' ').length === 3);

  // A bad one: valid everywhere, and the real kubelet dies of it. Nobody looks at the host before it is used.
  await configureAgent({ preflight: false, trialDuration: '10m' });
  const data = { kubelet: overlay({ maxPods: 122, systemReserved: { memory: '1000Ti' } }) };
  from = performance.now();
  kubectl('-n', NAMESPACE, 'patch', 'configmap', 'web', '--type=merge', '-p', JSON.stringify({ data }));
  await until('the bad one begins', ({ phase, revision }) => phase !== 'Complete' && revision !== completed.revision);
  const watched = await dkcBeside('rollout', 'watch', 'web', '--timeout=240s');
  const undone = await until('it is taken back', ({ phase }) => phase === 'RolledBack');
  await healthyOn(120);
  const failures = (undone.failures ?? []).map(({ node, error }) => `${node}: ${error}`).join();
  const bad = { ...(await outcome(undone, from)), watched, failures };

  const daemonAfter = await daemon();
  const { items } = await api.send<{ items: { reason: string; involvedObject: { name: string }; type: string }[] }>('GET', '/api/v1/namespaces/default/events'); // prettier-ignore
  const events = items.filter(({ reason, involvedObject }) => involvedObject.name === NODE && /^(KubeletConfig|Rollout)/.test(reason)).map(({ reason }) => reason); // prettier-ignore
  const forbidden = controllerLog().split('\n').filter((line) => /forbidden|missing rights/i.test(line)); // prettier-ignore
  ending.abort();
  agents.stop();
  systemctl('stop', 'dkc-controllers.service');
  await client.close();
  await plane.stop();
  const { seen, evictedFrom } = followed;
  return {
    good,
    bad,
    seen,
    evictedFrom,
    daemon: { before: daemonBefore, after: daemonAfter },
    forbidden,
    events: [...new Set(events)].toSorted(),
  };
});

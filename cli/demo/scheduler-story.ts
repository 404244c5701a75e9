import { ActionError } from '../../base/errors.ts';
import type { Millis } from '../../base/clock.ts';
import { statefulSetController } from '../../controllers/statefulset/controller.ts';
import {
  type KubeObject,
  namespaces,
  podDisruptionBudgets,
  pods,
  priorityClasses,
  replicaSets,
  statefulSets,
} from '../../kube/api/object.ts';
import type { Pod } from '../../controllers/common/types.ts';
import { defaultSchedulerConfig } from '../../scheduler/config/config.ts';
import { schedulerRunnable, servedKinds } from '../../scheduler/scheduler.ts';
import type { Context } from '../command.ts';
import { buildCluster, type DemoCluster, isBound, isReady, type Pods } from './cluster/demo-cluster.ts';
import { eventText, type Narrator, typed } from './narrator.ts';

/** Timeout of each wait; no step takes nearly as long, even on a slow machine. */
const PATIENCE: Millis = 120_000;
const BACKOFF_MS: Millis = 100;
const SHOP = 'shop';
const DB = 3;
const NODES = 3;
const CPUS = 7;
/** CPUs left on the nodes when each pod of db has one. */
const PLACES = NODES * CPUS - DB;
const WANTED = 200;

const container = { name: 'app', image: 'registry.example.com/app:1', resources: { requests: { cpu: '1', memory: '1Gi' } } };

/**
 * Shows how a rolling update on full nodes finishes, and which pods preempt which. @returns the final cluster; the caller disposes of it
 * @throws as soon as a step does not happen as described
 */
export async function schedulerStory(context: Context, narrator: Narrator, undo: AsyncDisposableStack): Promise<DemoCluster> {
  const { signal } = context;

  narrator.step('Three full nodes');
  {
    await using first = await fullCluster(context, narrator, false);
    await typed(context, narrator, ['why', 'pod', `${SHOP}/web-100`], `--kubeconfig=${first.kubeconfig}`);

    narrator.step('A rolling update without reservations: reservation.enabled is false');
    const place = nodeOf(first, 'db-2');
    await restart(first, signal);
    narrator.event('the admin changes the template of StatefulSet db: its controller deletes db-2');
    await first.pods.until('a pod of web in the place of db-2', (now) => running(now, 'web') > PLACES, PATIENCE, signal);
    narrator.event(`one of the ${WANTED - PLACES} takes the CPU that db-2 had on ${place}: ${PLACES + 1} pods of web run`);
    await first.pods.until('db-2 without a node', (now) => isUnschedulable(now.get(`${SHOP}/db-2`)), PATIENCE, signal);
    narrator.event('the new db-2 fits on no node, and the update waits for it');
    await typed(context, narrator, ['why', 'statefulset', `${SHOP}/db`], `--kubeconfig=${first.kubeconfig}`);
    await typed(context, narrator, ['why', 'pod', `${SHOP}/db-2`], `--kubeconfig=${first.kubeconfig}`);
  }

  narrator.step('The same cluster with reservations, as they are by default');
  const cluster = undo.use(await fullCluster(context, narrator, true));
  const { client } = cluster;
  const before = new Map(['db-0', 'db-1', 'db-2'].map((name) => [name, nodeOf(cluster, name)]));
  const old = new Set([...(cluster.pods.last?.values() ?? [])].map(({ metadata }) => metadata.uid));
  await restart(cluster, signal);
  narrator.event('the admin changes the template of StatefulSet db: its controller deletes db-2');
  await cluster.pods.until(
    'db updated',
    (now) => [...before.keys()].every((name) => isUpdated(now.get(`${SHOP}/${name}`), old)),
    PATIENCE,
    signal,
  );
  narrator.note(await eventText(context, client, 'ReservationCreated', 'shop/db-2'));
  narrator.note(await eventText(context, client, 'ReservationUsed', before.get('db-2')));
  for (const [name, place] of before) same(`the node of ${name}`, place, nodeOf(cluster, name));
  same('the pods of web that run', PLACES, running(cluster.pods.last ?? new Map(), 'web'));
  narrator.event(`db is updated: 3 of 3 pods, each on the node where it was; ${PLACES} pods of web run, as before`);

  narrator.step('A pod of higher priority');
  await client.create(priorityClasses, { metadata: { name: 'urgent' }, value: 1_000 }, { signal });
  const selector = { matchLabels: { app: 'db' } };
  await client.create(
    podDisruptionBudgets,
    { metadata: { name: 'db', namespace: SHOP }, spec: { minAvailable: DB, selector } },
    { signal },
  );
  await client.create(pods, pod('checkout', { priorityClassName: 'urgent' }), { signal });
  narrator.event('the admin creates pod checkout of PriorityClass urgent, and a PodDisruptionBudget keeps all pods of db');
  await cluster.pods.until('checkout running', (now) => isReady(now.get(`${SHOP}/checkout`) ?? pod('none')), PATIENCE, signal);
  const left = running(cluster.pods.last ?? new Map(), 'web');
  same('the pods of web that run', PLACES - 1, left);
  same('the pods of db that run', DB, running(cluster.pods.last ?? new Map(), 'db'));
  narrator.event(`checkout runs on ${nodeOf(cluster, 'checkout')}: one pod of web was preempted, none of db`);
  narrator.note(await eventText(context, client, 'Preempted'));

  narrator.step('A pod that no node can have');
  await client.create(pods, pod('report', {}, '8'), { signal });
  await cluster.pods.until('report without a node', (now) => isUnschedulable(now.get(`${SHOP}/report`)), PATIENCE, signal);
  narrator.event('the admin creates pod report, which requests 8 CPUs: no node has as many');
  await typed(context, narrator, ['why', 'pod', `${SHOP}/report`], `--kubeconfig=${cluster.kubeconfig}`);
  return cluster;
}

/** Three nodes filled by a StatefulSet and by some pods of a Deployment. */
async function fullCluster(context: Context, narrator: Narrator, reservations: boolean): Promise<DemoCluster> {
  const { signal } = context;
  const cluster = await buildCluster(context, { count: NODES, cpus: CPUS });
  try {
    const { client } = cluster;
    await client.create(namespaces, { metadata: { name: SHOP } }, { signal });
    const reservation = { ...defaultSchedulerConfig.reservation, enabled: reservations };
    // With the default backoff a rejected pod is retried after a second at the earliest, and the scenario would depend on this timing.
    const config = { ...defaultSchedulerConfig, initialBackoffMs: BACKOFF_MS, maxBackoffMs: BACKOFF_MS, reservation };
    const served = await servedKinds(client, signal);
    await cluster.start('dkc-scheduler', (runtime) => schedulerRunnable(runtime, config, served));
    await cluster.start('dkc-controllers', (runtime) => [statefulSetController(runtime)]);
    const labels = { app: 'db' };
    await client.create(
      statefulSets,
      {
        metadata: { name: 'db', namespace: SHOP },
        spec: { serviceName: 'db', replicas: DB, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } }, // prettier-ignore
      },
      { signal },
    );
    await cluster.pods.until('the pods of db', (now) => running(now, 'db') === DB, PATIENCE, signal);
    await addWeb(cluster, signal);
    await cluster.pods.until(
      'full nodes',
      (now) => running(now, 'web') === PLACES && unschedulable(now) === WANTED - PLACES,
      PATIENCE,
      signal,
    );
    narrator.event(
      `${NODES} nodes with ${CPUS} CPUs each run the ${DB} pods of StatefulSet db and ${PLACES} of the ${WANTED} that Deployment web wants; each pod requests 1 CPU, ${WANTED - PLACES} are pending`,
    );
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

/** Creates the pods of a Deployment: the API server of the demo does not serve Deployments. */
async function addWeb({ client }: DemoCluster, signal: AbortSignal): Promise<void> {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const set = await client.create<KubeObject>(
    replicaSets,
    { metadata: { name: 'web', namespace: SHOP }, spec: { replicas: WANTED, selector: { matchLabels: labels }, template } },
    { signal },
  );
  const { uid = '' } = set.metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true };
  for (let at = 1; at <= WANTED; at++) {
    const metadata = { name: `web-${String(at).padStart(3, '0')}`, namespace: SHOP, labels, ownerReferences: [owner] };
    await client.create(pods, { metadata, spec: template.spec }, { signal });
  }
}

function pod(name: string, spec: object = {}, cpu = '1'): Pod {
  const resources = { requests: { ...container.resources.requests, cpu } };
  return { metadata: { name, namespace: SHOP }, spec: { ...spec, containers: [{ ...container, resources }] } };
}

async function restart({ client }: DemoCluster, signal: AbortSignal): Promise<void> {
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } };
  await client.patch(statefulSets, { name: 'db', namespace: SHOP }, { spec: { template } }, { type: 'merge', signal });
}

const ofApp = (now: Pods, app: string): Pod[] => [...now.values()].filter(({ metadata }) => metadata.labels?.['app'] === app);
const running = (now: Pods, app: string): number => ofApp(now, app).filter(isReady).length;
const unschedulable = (now: Pods): number => [...now.values()].filter(isUnschedulable).length;

function isUnschedulable(one: Pod | undefined): boolean {
  return one !== undefined && !isBound(one) && (one.status?.conditions ?? []).some(({ reason }) => reason === 'Unschedulable');
}

const isUpdated = (one: Pod | undefined, old: ReadonlySet<string | undefined>): boolean =>
  one !== undefined && isReady(one) && !old.has(one.metadata.uid);

const nodeOf = ({ pods: { last } }: DemoCluster, name: string): string => last?.get(`${SHOP}/${name}`)?.spec?.nodeName ?? 'no node';

/** Throws if a number of the cluster differs from the one that the scenario claims. */
function same(what: string, expected: string | number, is: string | number): void {
  if (expected !== is) throw new ActionError('confirm', `that ${what} is ${expected}`, { hint: `it is ${is}` });
}

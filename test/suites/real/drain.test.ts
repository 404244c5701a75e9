import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { openLog } from '../../../base/pino-log.ts';
import { ApiEvictor, EvictionBackoff } from '../../../controllers/rollout/drain/eviction.ts';
import {
  defaultDrainPolicy,
  type DrainOutcome,
  type DrainPolicy,
  type DrainStep,
  type Node,
  type Pod,
  type RefusedPod,
} from '../../../controllers/rollout/drain/contract.ts';
import { executeDrain } from '../../../controllers/rollout/drain/execute.ts';
import { podsOfNode } from '../../../controllers/rollout/drains.ts';
import { planDrain, planGiveBack } from '../../../controllers/rollout/drain/plan.ts';
import { nodes } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { eventually } from '../../support/eventually.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { type Release, releases } from '../../support/real-parts/release.ts';
import { World } from '../../support/stories/world.ts';
import { worldParts } from './cluster/real-world.ts';
import { withRealParts } from './suite.ts';

const TOKEN = { token: 'draintoken', user: 'drain', groups: [] };
const owner = { name: 'web', uid: '0e4a51a6-0a41-4a3c-9c06-000000000000' };
const evictsAll: DrainPolicy = { ...defaultDrainPolicy, unmanagedPods: 'Evict' };
const never = new AbortController().signal;

/*
 * A node with pods of a ReplicaSet behind a budget, of a DaemonSet and of nobody, on a real API server with its disruption controller and scheduler; hollow
 * kubelets. The drain has the rights of docs/rollouts.md and no others, and leaves a node as kubectl drain leaves it.
 */
for (const release of await releases())
  await withRealParts(`drain on a real API server ${release.version}`, [...worldParts, 'kubectl'], () => suite(release), release);

interface Cluster {
  world: World;
  client: Client;
  kubectl: Kubectl;
}

function suite(release: Release): void {
  let started: Cluster | undefined;
  const here = (): Cluster => {
    if (started === undefined) throw new Error('the control plane did not start');
    return started;
  };
  before(async () => (started = await start(release)));
  after(async () => {
    await started?.client.close();
    await started?.kubectl.stop();
    await started?.world.stop();
  });

  test('the policy blocks before the node is touched', async () => {
    const { step } = await drain(here().client, 'node-a', defaultDrainPolicy);
    assert.deepEqual(step, { do: 'failed', reason: 'Blocked', why: 'shop/bare has no controller' });
    assert.equal((await nodeOf(here().client, 'node-a')).spec?.unschedulable, undefined);
  });

  test('a budget is heeded and named, and the node is left as kubectl drain leaves it', async () => {
    const { client, kubectl } = here();
    await budget(kubectl, 3, 0);
    const refused: RefusedPod[] = [];
    const { step } = await drain(client, 'node-a', evictsAll, async (outcome) => {
      if (outcome.result !== 'evicted' || outcome.refused.length === 0) return;
      if (refused.length === 0) await budget(kubectl, 2, 1);
      refused.push(...outcome.refused);
    });
    assert.deepEqual(step, { do: 'drained' });
    assert.equal(refused[0]?.why, 'The disruption budget web needs 3 healthy pods and has 3 currently');
    const node = await nodeOf(client, 'node-a');
    assert.deepEqual(lifecycle(node), ['Drained=True DrainCompleted', 'MaintenanceInProgress=True AdminRequested']);
    const ours = await kindsOn(client, 'node-a');
    await giveBack(client, 'node-a');
    const free = await nodeOf(client, 'node-a');
    assert.deepEqual([lifecycle(free), free.spec?.unschedulable, Object.keys(free.metadata.annotations ?? {})], [[], undefined, []]);

    await running(client, 'node-b', 'agent web web web');
    await kubectl.good('drain node-b --ignore-daemonsets --delete-emptydir-data --force --timeout=90s');
    assert.deepEqual(ours, await kindsOn(client, 'node-b'));
    assert.equal(ours, 'agent');
    await kubectl.good('uncordon node-b');
  });

  test('a person who uncordons and cordons again keeps the cordon', async () => {
    const { client, kubectl } = here();
    assert.equal((await drain(client, 'node-b', evictsAll)).step.do, 'drained');
    await kubectl.good('uncordon node-b');
    await kubectl.good('cordon node-b');
    await giveBack(client, 'node-b');
    const { spec, metadata } = await nodeOf(client, 'node-b');
    assert.deepEqual([spec?.unschedulable, Object.keys(metadata.annotations ?? {})], [true, []]);
  });

  test('a budget that never allows ends the drain in its time, and the pods stay', async () => {
    const { client, kubectl } = here();
    await running(client, 'node-a', 'agent web web web');
    await budget(kubectl, 3, 0);
    const { step } = await drain(client, 'node-a', { ...evictsAll, timeoutMs: 8_000 });
    assert.ok(step.do === 'failed' && step.reason === 'Timeout', JSON.stringify(step));
    assert.match(step.why, /^not drained in 8 s: shop\/web-\w+ is not evicted: The disruption budget web needs 3 healthy pods and has 3/);
    await giveBack(client, 'node-a');
    assert.equal(await kindsOn(client, 'node-a'), 'agent web web web');
    assert.equal((await nodeOf(client, 'node-a')).spec?.unschedulable, undefined);
  });
}

/** node-a with all the pods, node-b with its daemon. */
async function start(release: Release): Promise<Cluster> {
  const controllers = 'daemonset,disruption,replicaset,garbagecollector,namespace';
  const plane = await startControlPlane({ release, scheduler: true, controllers, extraTokens: [TOKEN] });
  const log = openLog({ level: 'error' });
  const clientOf = (token: string): Client =>
    createClient({ origin: 'the test', server: plane.url, ca: { data: plane.ca }, token }, { log });
  const admin = clientOf(plane.adminToken);
  const stop = async (): Promise<void> => {
    await admin.close();
    await plane.stop();
  };
  const world = await World.start({ client: admin, log, stop });
  try {
    const { kubectl: program } = await release.programs(['kubectl']);
    const kubectl = await Kubectl.start(program, plane.kubeconfig());
    await world.fleet.add([{ name: 'node-a' }, { name: 'node-b' }]);
    await kubectl.good('cordon node-b');
    await kubectl.good('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests(release) }));
    await running(admin, 'node-a', 'agent bare web web web');
    await kubectl.good('uncordon node-b');
    return { world, client: clientOf(TOKEN.token), kubectl };
  } catch (error) {
    await world.stop();
    throw error;
  }
}

function manifests({ minor }: Release): object[] {
  const template = (app: string, more: object = {}) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'app:1' }], terminationGracePeriodSeconds: 1, ...more },
  });
  const metadata = (name: string) => ({ name, namespace: 'shop' });
  const selector = (app: string) => ({ matchLabels: { app } });
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: `policy/${minor < 21 ? 'v1beta1' : 'v1'}`,
      kind: 'PodDisruptionBudget',
      metadata: metadata('web'),
      spec: { minAvailable: 2, selector: selector('web') },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: metadata('agent'),
      spec: { selector: selector('agent'), template: template('agent') },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: metadata('web'),
      spec: { replicas: 3, selector: selector('web'), template: template('web', { volumes: [{ name: 'scratch', emptyDir: {} }] }) },
    },
    { apiVersion: 'v1', kind: 'Pod', metadata: metadata('bare'), spec: { ...template('bare').spec, nodeName: 'node-a' } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'drain' },
      rules: [
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'patch'] },
        { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
        { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'drain' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'drain' },
      subjects: [{ kind: 'User', name: TOKEN.user, apiGroup: rbac }],
    },
  ];
}

/** Changes the budget of the three pods, and waits for the disruption controller. */
async function budget(kubectl: Kubectl, minAvailable: number, allowed: number): Promise<void> {
  await kubectl.run(['patch', 'pdb', 'web', '-n', 'shop', '--type=merge', '-p', JSON.stringify({ spec: { minAvailable } })]);
  const status = 'get pdb web -n shop -o jsonpath={.status.desiredHealthy},{.status.disruptionsAllowed}';
  await eventually('the disruption controller has seen it', async () => (await kubectl.good(status)) === `${minAvailable},${allowed}`);
}

async function drain(
  client: Client,
  node: string,
  policy: DrainPolicy,
  saw: (outcome: DrainOutcome) => Promise<void> = async () => {},
): Promise<{ step: DrainStep }> {
  const backoff = new EvictionBackoff(realClock);
  const { heldBack } = backoff;
  const plan = async (): Promise<DrainStep> =>
    planDrain({
      node: await nodeOf(client, node),
      pods: await podsOfNode(client, node, never),
      owner,
      policy,
      now: realClock.now(),
      heldBack,
    });
  return follow(client, backoff, plan, saw);
}

async function giveBack(client: Client, node: string): Promise<void> {
  const plan = async (): Promise<DrainStep> => planGiveBack(await nodeOf(client, node), owner, realClock.now());
  await follow(client, new EvictionBackoff(realClock), plan, async () => {});
}

async function follow(
  client: Client,
  backoff: EvictionBackoff,
  plan: () => Promise<DrainStep>,
  saw: (outcome: DrainOutcome) => Promise<void>,
): Promise<{ step: DrainStep }> {
  const world = { client, evictor: new ApiEvictor(client), backoff };
  for (;;) {
    const step = await plan();
    const outcome = await executeDrain(step, world, never);
    await saw(outcome);
    if (outcome.requeueAfterMs === undefined) return { step };
    await realClock.sleep(outcome.requeueAfterMs);
  }
}

function nodeOf(client: Client, name: string): Promise<Node> {
  return client.get<Node>(nodes, { name });
}

function lifecycle({ status }: Node): string[] {
  const ours = (status?.conditions ?? []).filter(({ type }) => /^(Drain|Maintenance)/.test(type));
  return ours.map(({ type, status: is, reason }) => `${type}=${is} ${reason ?? ''}`).toSorted();
}

/** Pods of a node by their owners' names. */
async function kindsOn(client: Client, node: string, is: (pod: Pod) => boolean = () => true): Promise<string> {
  const found = (await podsOfNode(client, node, never)).filter(is);
  return found
    .map(({ metadata }) => metadata.labels?.['app'] ?? metadata.name ?? '')
    .toSorted()
    .join(' ');
}

function running(client: Client, node: string, wanted: string): Promise<unknown> {
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  return eventually(
    `${wanted} run on ${node}`,
    async () => (await kindsOn(client, node, isReady)) === wanted,
    120_000,
    () => kindsOn(client, node),
  );
}

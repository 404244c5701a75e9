import { seededRandom } from '../../base/random.ts';
import { Cluster } from '../../scheduler/cache/cluster.ts';
import { defaultSchedulerConfig, type ProfileConfig } from '../../scheduler/config/config.ts';
import type { PostFilterState } from '../../scheduler/preempt/post-filter.ts';
import { DefaultSpreadSelectors } from '../../scheduler/engine/default-spread-selectors.ts';
import { Engine } from '../../scheduler/engine/engine.ts';
import { type PodInfo, podInfoOf } from '../../scheduler/pod/pod-info.ts';
import { Nominator } from '../../scheduler/queue/nominator.ts';
import type { Node, Service } from '../../scheduler/types.ts';
import { node, pod } from '../../test/unit/scheduler/builders.ts';

/** The engine and its cluster, without queue, caches or server. */
export interface Core extends PostFilterState {
  cluster: Cluster;
  profile: ProfileConfig;
}

/** A third each: small, middling and large machines. */
const machines = [
  { cpu: 16, gi: 64 },
  { cpu: 32, gi: 128 },
  { cpu: 64, gi: 256 },
] as const;

export const ZONES = 3;
/** Number of applications: groups of equal pods, each with a service. */
export const APPS = 20;

/** Nodes of different sizes in three zones. */
export function benchNodes(count: number): Node[] {
  return Array.from({ length: count }, (_, n) => {
    const { cpu, gi } = machineOf(n);
    const named = node(`node-${n}`).cpu(String(cpu)).memory(`${gi}Gi`).has('pods', '250');
    return named.zone(`zone-${n % ZONES}`).labels({ pool: `pool-${n % 10}` }).build(); // prettier-ignore
  });
}

/** Pods that already run: `perNode` on each node, no two nodes alike. */
export function standingPods(nodes: number, perNode: number): PodInfo[] {
  return Array.from({ length: nodes * perNode }, (_, n) => {
    const [on, which] = [n % nodes, Math.floor(n / nodes)];
    const cpu = 100 * (1 + ((n * 7 + which) % 9));
    const mi = 128 * (1 + ((n * 5 + which) % 11));
    const standing = pod(`standing/pod-${n}`).labels({ app: `app-${n % APPS}` });
    return podInfoOf(standing.cpu(`${cpu}m`).memory(`${mi}Mi`).on(`node-${on}`).build());
  });
}

/** Pods that fill each node but for less than half a CPU: priority 0, half a node each. */
export function fillingPods(nodes: number): PodInfo[] {
  return Array.from({ length: nodes * 2 }, (_, n) => {
    const on = n % nodes;
    const cpu = machineOf(on).cpu * 500 - 100;
    return podInfoOf(pod(`standing/pod-${n}`).cpu(`${cpu}m`).memory('1Gi').on(`node-${on}`).build());
  });
}

/** @param hasServices - with services, so that pods of an application are spread by default */
export function makeCore(nodes: readonly Node[], standing: readonly PodInfo[], hasServices = false): Core {
  const cluster = new Cluster();
  for (const one of nodes) cluster.setNode(one);
  for (const info of standing) cluster.addPod(info);
  const random = seededRandom(1);
  const config = defaultSchedulerConfig;
  const [profile] = config.profiles.values();
  if (profile === undefined) throw new Error('there is no profile');
  const services = hasServices ? Array.from({ length: APPS }, (_, n) => serviceOf(n)) : [];
  const none = (): undefined => undefined;
  const spreadSelectors = new DefaultSpreadSelectors({
    services: () => services,
    replicationController: none,
    replicaSet: none,
    statefulSet: none,
  });
  const engine = new Engine({
    cluster,
    random,
    compat: config.compat,
    defaultSelectorOf: spreadSelectors.of,
    nominations: { nodes: [], on: () => [] },
    volumes: { key: () => '', prepare: none },
  });
  return { cluster, engine, config, random, now: () => 0, nominator: new Nominator(), budgets: () => [], profile };
}

function serviceOf(n: number): Service {
  return { metadata: { namespace: 'default', name: `app-${n}` }, spec: { selector: { app: `app-${n}` } } };
}

const machineOf = (n: number): (typeof machines)[number] => machines[n % machines.length] ?? machines[0];

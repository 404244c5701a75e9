import { seededRandom } from '../base/random.ts';
import { Cluster } from './cache/cluster.ts';
import { postFilter, type PostFilterResult } from './preempt/post-filter.ts';
import { DefaultSpreadSelectors } from './engine/default-spread-selectors.ts';
import { VolumePlugins } from './volumes/rules.ts';
import { Engine, type Evaluation } from './engine/engine.ts';
import type { FitError } from './engine/rejections.ts';
import type { Rejection } from './plugins/names.ts';
import { type PodInfo, podInfoOf } from './pod/pod-info.ts';
import { Nominator } from './queue/nominator.ts';
import { retryConditionsOf } from './queue/hints.ts';
import { listedStorage } from './volumes/view.ts';
import type { Millis } from '../base/clock.ts';
import type { SchedulerConfig } from './config/config.ts';
import type { Pending } from './queue/contract.ts';
import type { ReservationView } from './reservation/reporting.ts';
import type {
  Budget,
  Claim,
  CsiCapacity,
  CsiDriver,
  CsiNode,
  DeviceClass,
  Namespace,
  Node,
  PersistentVolume,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from './types.ts';

/** One line of an explanation. */
export interface Explained {
  /** The pod (`ns/name`) or node that the line describes. */
  object: string;
  /** One word, the same in every version. */
  reason: string;
  /** For people. */
  detail: string;
}

type All<T> = readonly Readonly<T>[];

/** A pending pod, and all objects that its scheduling depends on, read once; in the order of the API server. */
export interface PodFacts {
  readonly pod: Readonly<Pod>;
  readonly config: SchedulerConfig;
  /** Pods that have not finished, including `pod`. */
  readonly pods: All<Pod>;
  readonly nodes: All<Node>;
  readonly namespaces: All<Namespace>;
  readonly services: All<Service>;
  readonly replicationControllers: All<ReplicaSet>;
  readonly replicaSets: All<ReplicaSet>;
  readonly statefulSets: All<StatefulSet>;
  readonly budgets: All<Budget>;
  readonly deviceClasses: All<DeviceClass>;
  readonly claims: All<Claim>;
  readonly volumes: All<PersistentVolume>;
  readonly storageClasses: All<StorageClass>;
  readonly csiNodes: All<CsiNode>;
  readonly csiDrivers: All<CsiDriver>;
  readonly capacities: All<CsiCapacity>;
  readonly attachments: All<VolumeAttachment>;
  /** State of the running scheduler; undefined: not read. */
  readonly running: RunningFacts | undefined;
  readonly now: Millis;
}

/** State that only the running scheduler has. */
export interface RunningFacts {
  readonly reservations: readonly ReservationView[];
  /** The pod's entry in the queue; undefined: the pod is not queued, or beyond the pods that are listed. */
  readonly pending: Pending | undefined;
  /** Number of pending pods that are not listed. */
  readonly unlisted: number;
}

/**
 * Repeats the scheduler's decision: why no node is feasible, for each reason the number of nodes and the names of up to three, whether preemption would help,
 * and, unless `running.pending` has it, what would requeue the pod. If the pod fits, a line names the best node. Pure.
 */
export type ExplainPod = (facts: PodFacts) => readonly Explained[];

/** See {@link ExplainPod}. */
export const explainPod: ExplainPod = (facts) => {
  const pod = podInfoOf(facts.pod);
  const profile = facts.config.profiles.get(pod.schedulerName);
  if (profile === undefined) return [];
  const { cluster, engine, nominator } = worldOf(facts, pod);
  const evaluation = engine.evaluate(pod, profile);
  if (evaluation.totals.size > 0) return [fitting(evaluation)];
  const { error } = evaluation;
  if (error.nodes === 0) return [{ object: pod.key, reason: 'NoNodes', detail: 'the cluster has no nodes' }];
  const refused =
    error.everywhere !== undefined
      ? [{ object: pod.key, reason: [...error.by].join(), detail: `no node can run it: ${error.everywhere}` }]
      : refusals(pod, evaluation.rejections, error.nodes);
  const parts = {
    cluster,
    engine,
    nominator,
    config: facts.config,
    random: seededRandom(1),
    now: () => facts.now,
    budgets: () => facts.budgets,
  };
  return [...refused, ...preemptionRows(postFilter(parts, pod, profile, error), pod), ...retryConditions(facts, pod, error.by)];
};

/** The state that the scheduler would have of the cluster. */
function worldOf(facts: PodFacts, pod: PodInfo): { cluster: Cluster; engine: Engine; nominator: Nominator } {
  const namespaces = new Map(facts.namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels]));
  const cluster = new Cluster((name) => namespaces.get(name));
  const nominator = new Nominator();
  for (const node of facts.nodes) cluster.setNode(node);
  const others = facts.pods.map(podInfoOf).filter(({ uid }) => uid !== pod.uid);
  for (const other of others) {
    if (other.nodeName !== '') cluster.addPod(other);
    else nominator.add(other);
  }
  nominator.add(pod);
  const byKey = <T extends { metadata: { namespace?: string; name?: string } }>(list: readonly T[]): ((key: string) => T | undefined) => {
    const known = new Map(list.map((object) => [`${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`, object]));
    return (key) => known.get(key);
  };
  const spreadSelectors = new DefaultSpreadSelectors({
    services: (namespace) => facts.services.filter(({ metadata }) => metadata.namespace === namespace),
    replicationController: byKey(facts.replicationControllers),
    replicaSet: byKey(facts.replicaSets),
    statefulSet: byKey(facts.statefulSets),
  });
  const placed = others.filter(({ nodeName }) => nodeName !== '');
  const view = { ...listedStorage(facts, placed), assume() {}, forget: () => [] };
  const engine = new Engine({
    cluster,
    random: seededRandom(1),
    compat: facts.config.compat,
    defaultSelectorOf: spreadSelectors.of,
    volumes: new VolumePlugins(view, { claimUsers: () => [] }),
    deviceClassOf: (resource) => facts.deviceClasses.find(({ spec }) => spec?.extendedResourceName === resource)?.metadata.name,
    nominations: {
      nodes: nominator.nodes,
      on: (node, { uid, priority }) => nominator.on(node).filter((other) => other.uid !== uid && other.priority >= priority),
    },
  });
  return { cluster, engine, nominator };
}

function fitting({ totals }: Evaluation): Explained {
  const best = Math.max(...totals.values());
  const names = [...totals].filter(([, total]) => total === best).map(([name]) => name);
  const [first = ''] = names;
  const others = totals.size === 1 ? 'no other node fits' : `${totals.size} nodes fit, ${named(names)} with the highest score`;
  return {
    object: first,
    reason: 'fits',
    detail: `it fits there now (${others}); it waits for its turn in the queue, or the capacity is reserved for other pods`,
  };
}

/** For each reason the number of nodes, and whether preemption could help. */
function refusals(pod: PodInfo, refused: ReadonlyMap<string, Rejection>, nodes: number): Explained[] {
  const byReason = new Map<string, { plugin: string; names: string[]; resolvable: boolean }>();
  for (const [name, { plugin, reasons, resolvable }] of refused) {
    for (const reason of reasons) {
      const known = byReason.get(reason) ?? { plugin, names: [], resolvable: false };
      known.names.push(name);
      known.resolvable ||= resolvable;
      byReason.set(reason, known);
    }
  }
  return [...byReason]
    .toSorted(([, a], [, b]) => b.names.length - a.names.length)
    .map(([reason, { plugin, names, resolvable }]) => {
      const hope = resolvable ? '' : '; preemption would not help';
      return { object: pod.key, reason: plugin, detail: `${names.length} of ${nodes} nodes: ${reason} (${named(names)})${hope}` };
    });
}

function preemptionRows({ chosen, message }: PostFilterResult, pod: PodInfo): Explained[] {
  if (chosen !== undefined) {
    const victims = chosen.victims.map(({ key }) => key);
    const broken = chosen.violations === 0 ? '' : `, breaking ${chosen.violations} disruption budget(s)`;
    return [{ object: chosen.node, reason: 'preemption', detail: `preempting ${named(victims)} would make it fit${broken}` }];
  }
  const at = message.indexOf('preemption: ');
  return at < 0 ? [] : [{ object: pod.key, reason: 'preemption', detail: message.slice(at + 'preemption: '.length) }];
}

function retryConditions({ running }: PodFacts, pod: PodInfo, by: FitError['by']): Explained[] {
  if (running?.pending !== undefined) return [];
  return retryConditionsOf(by).map((detail) => ({ object: pod.key, reason: 'retried-when', detail }));
}

const NAMED = 3;

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

import type { Random } from '../../base/random.ts';
import type { Cluster } from '../cache/cluster.ts';
import type { NodeState } from '../cache/node-state.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { namedNodes } from '../plugins/node-affinity.ts';
import type { Rejection, Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { type Devices, excessOf, unsupportedIn } from '../pod/pod-limits.ts';
import { Classes } from './classes.ts';
import { type FitError, fitErrorOf, RejectionTable } from './rejections.ts';
import { type ClassifiedPod, Effects, filterPodRules, filterNode, NodeTrial, type WhatIf } from './node-trial.ts';
import { type ResourceClass, scoresVolumes, type VolumeChecks, volumesRejection } from './resource-class.ts';
import { Scan } from './scan.ts';
import type { DefaultSelectorOf } from './topology-class.ts';

/** Pods that count on a node before they are assigned to it: nominated after a preemption, or with a reservation there. */
export interface NominatedPods {
  /** Nodes with nominations on them. */
  readonly nodes: Iterable<string>;
  /** Pods on a node that count when this pod is filtered: of at least its priority, without the pod itself and its own reservation. */
  on(node: string, pod: PodInfo): readonly PodInfo[];
}

/** PreFilter of the volume plugins: their checks, prepared once for a pod. */
export interface VolumePreFilter {
  /** The same text for pods whose volumes have the same requirements now; '' for a pod without volumes that matter. */
  key(pod: PodInfo): string;
  /** @returns a rejection if no node can help, else the checks for each node */
  prepare(pod: PodInfo, profile: ProfileConfig): Rejection | VolumeChecks | undefined;
}

export interface EngineOptions {
  cluster: Cluster;
  random: Random;
  compat: SchedulerConfig['compat'];
  defaultSelectorOf: DefaultSelectorOf;
  nominations: NominatedPods;
  volumes: VolumePreFilter;
  /** The DeviceClass that provides an extended resource. @default none does */
  deviceClassOf?: Devices['classOf'];
  /** Up to this many comparisons of a rule with a pod or a node are done without preparation. @default 20_000 */
  maxUnprepared?: number;
}

/** `feasible`, `ties`: number of feasible nodes, and of those with the highest score; absent if volumes were checked on some nodes only. */
export type Decision = { placed: true; node: string; feasible?: number; ties?: number } | { placed: false; error: FitError };

/** The result for all nodes: for extenders, explanations and tests. */
export interface Evaluation {
  /** Total points by feasible node, in the cluster's order. */
  readonly totals: ReadonlyMap<string, number>;
  readonly rejections: ReadonlyMap<string, Rejection>;
  readonly error: FitError;
}

/**
 * Finds the best node for a pod: all nodes are filtered, and scored exactly. Results that a class of pods shares are cached and updated node by node; counts of
 * other pods are updated when pods are added or removed. So a pod without rules about other pods is scheduled in constant time, any other in one pass over
 * columns. Synchronous; changes nothing but its caches.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #rejections = new RejectionTable();
  readonly #devices: Devices;
  readonly #classes: Classes;
  readonly #scan: Scan;
  #lastTie = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { cluster, deviceClassOf: classOf = () => undefined } = options;
    this.#devices = { classOf, isOnNodes: (resource) => cluster.order.some(({ allocScalars }) => (allocScalars.get(resource) ?? 0) > 0) };
    this.#classes = new Classes({ ...options, rejections: this.#rejections });
    this.#scan = new Scan(cluster, options.compat.scoreRange);
  }

  /** Drops all classes: the labels of a namespace changed, on which their rules depend. */
  forget(): void {
    this.#classes.clear();
  }

  /**
   * Does a part of the work for the first decision on such a pod, if that is long: comparing its rules with all other pods. A decision before the end of the
   * preparation does the rest itself.
   * @returns whether no long work is left
   */
  prepare(pod: PodInfo, profile: ProfileConfig, isOver: () => boolean): boolean {
    const { cluster, maxUnprepared = 20_000 } = this.#options;
    const kinds = cluster.groups.sizes.groups;
    if (rulesOf(pod) * kinds + cluster.carried.size + nodeRulesOf(pod) * cluster.nodeCount < maxUnprepared) return true;
    if (excessOf(pod.pod.spec) !== undefined) return true;
    const { nodeSpec, topology } = this.#classes.classify(pod, profile, undefined);
    return nodeSpec.advance(isOver) && topology.advance(isOver);
  }

  /** Selects a node. @param first - selected without scoring if the pod fits there: its nominated node, or the node of its reservation */
  decide(pod: PodInfo, profile: ProfileConfig, first?: string): Decision {
    const classified = this.#classify(pod, profile);
    if ('error' in classified) return { placed: false, error: classified.error };
    const preferred = first === undefined ? undefined : this.#options.cluster.node(first);
    if (preferred !== undefined && this.#rejectionBeside(classified, preferred) === undefined)
      return { placed: true, node: preferred.name, feasible: 1, ties: 1 };
    const named = namedBy(pod, profile);
    if (named !== undefined) return this.#decideNamed(classified, named);
    const nominated = this.#nominated(pod);
    const node = this.#placeByVolumes(classified, nominated);
    if (node !== undefined) return { placed: true, node };
    const set = this.#classes.withVolumes(classified);
    set.refresh();
    const closed = this.#closed(classified, set, nominated);
    const best = isIndifferent(classified) ? bestOf(set, closed) : this.#scan.best(classified, set, closed);
    if (best.feasible === 0) return { placed: false, error: this.#explain(classified, set, nominated) };
    const slot = this.#choose(best.slots);
    return { placed: true, node: this.#options.cluster.at(slot)?.name ?? '', feasible: best.feasible, ties: best.slots.length };
  }

  /** Filters and scores every node. */
  evaluate(pod: PodInfo, profile: ProfileConfig): Evaluation {
    const { cluster } = this.#options;
    const classified = this.#classify(pod, profile);
    if ('error' in classified) return { totals: new Map(), rejections: new Map(), error: classified.error };
    const nominated = this.#nominated(pod);
    const named = namedBy(pod, profile);
    const totals = new Map<string, number>();
    const rejections = new Map<string, Rejection>();
    const feasible: NodeState[] = [];
    for (const state of cluster.order) {
      const refused =
        named !== undefined && !named.includes(state.name) ? outside : this.#rejection(classified, state, nominated.get(state.slot));
      if (refused === undefined) feasible.push(state);
      else rejections.set(state.name, refused);
    }
    this.#scan.totals(classified, feasible, (state, total) => totals.set(state.name, total));
    return {
      totals,
      rejections,
      error: fitErrorOf(
        cluster.nodeCount,
        rejections.values().map((refused) => [refused, 1]),
      ),
    };
  }

  /** Why the pod cannot be on this node; undefined: it can. */
  rejectionOn(pod: PodInfo, profile: ProfileConfig, state: NodeState): Rejection | undefined {
    const classified = this.#classify(pod, profile);
    if ('error' in classified) return outside;
    return this.#rejectionBeside(classified, state);
  }

  /**
   * Preemption trials for an unschedulable pod, whose requirements are prepared once for all nodes. Valid until the next change of the cluster.
   * @throws {RangeError} for a pod that no node can help
   */
  trials(pod: PodInfo, profile: ProfileConfig): (state: NodeState) => WhatIf {
    const classified = this.#classify(pod, profile);
    if ('error' in classified) throw new RangeError(`no node can help pod ${pod.key}`);
    const effects = new Effects(classified);
    return (state) => new NodeTrial(classified, state, this.#options.nominations.on(state.name, pod), effects);
  }

  /** The rejection of each node that is not feasible now; `resolvable` if preemption may help. */
  *rejections(pod: PodInfo, profile: ProfileConfig): Iterable<readonly [NodeState, Rejection]> {
    const classified = this.#classify(pod, profile);
    if ('error' in classified) return;
    const nominated = this.#nominated(pod);
    const named = namedBy(pod, profile);
    const set = named === undefined ? this.#classes.withVolumes(classified) : undefined;
    set?.refresh();
    for (const state of this.#options.cluster.order) {
      const code = nominated.has(state.slot) ? 0 : (set?.code(state.slot) ?? 0);
      const refused =
        named !== undefined && !named.includes(state.name)
          ? outside
          : code !== 0
            ? this.#rejections.of(code)
            : this.#rejection(classified, state, nominated.get(state.slot));
      if (refused !== undefined) yield [state, refused];
    }
  }

  #classify(pod: PodInfo, profile: ProfileConfig): ClassifiedPod | { error: FitError } {
    const { cluster, volumes } = this.#options;
    const refuse = (by: Rejector, everywhere: string): { error: FitError } => ({
      error: { nodes: cluster.nodeCount, reasons: new Map(), everywhere, by: new Set([by]), resolvable: 0 },
    });
    if (cluster.nodeCount === 0)
      return { error: { nodes: 0, reasons: new Map(), everywhere: undefined, by: new Set(['NodeName']), resolvable: 0 } };
    const excess = excessOf(pod.pod.spec);
    if (excess !== undefined) return refuse('PodLimits', excess);
    const unsupported = unsupportedIn(pod, this.#devices);
    if (unsupported !== undefined) return refuse(unsupported.by, unsupported.why);
    if (namedBy(pod, profile)?.length === 0) return refuse('NodeAffinity', 'pod affinity terms conflict');
    if (this.#rejections.isFull) this.#reset();
    const prepared = volumes.key(pod) === '' ? undefined : volumes.prepare(pod, profile);
    if (prepared !== undefined && 'plugin' in prepared) return refuse(prepared.plugin, prepared.reasons.join(', '));
    const classified = this.#classes.classify(pod, profile, prepared);
    classified.nodeSpec.refresh();
    classified.topology.refresh();
    return classified;
  }

  #reset(): void {
    this.#classes.clear();
    this.#rejections.clear();
  }

  #nominated(pod: PodInfo): ReadonlyMap<number, readonly PodInfo[]> {
    const { cluster, nominations } = this.#options;
    let bySlot: Map<number, readonly PodInfo[]> | undefined;
    for (const name of nominations.nodes) {
      const state = cluster.node(name);
      if (state === undefined) continue;
      const pods = nominations.on(name, pod);
      if (pods.length > 0) (bySlot ??= new Map()).set(state.slot, pods);
    }
    return bySlot ?? nothing;
  }

  /**
   * Selects a node for a pod with volumes: checks them on the nodes that are best without volumes, until one passes. So for a pod with its own claim not every
   * node is filtered, as it is with {@link Classes.withVolumes}.
   * @returns undefined if no node passes, or if the score or the tie-break depends on the volumes
   */
  #placeByVolumes(classified: ClassifiedPod, nominated: ReadonlyMap<number, readonly PodInfo[]>): string | undefined {
    const { cluster, compat, random } = this.#options;
    const { volumes } = classified.needs;
    if (volumes === undefined || compat.tieBreak !== 'random' || scoresVolumes(classified.profile)) return undefined;
    const set = this.#classes.resources(classified);
    set.refresh();
    const closed = this.#closed(classified, set, nominated);
    const passes = (slot: number): boolean => {
      const state = cluster.at(slot);
      return state !== undefined && !closed.has(slot) && volumesRejection(volumes, state) === undefined;
    };
    if (!isIndifferent(classified)) {
      const { slots } = this.#scan.best(classified, set, closed, passes);
      return slots.length === 0 ? undefined : cluster.at(this.#choose(slots))?.name;
    }
    const slot = set.buckets.draw(passes, random);
    return slot === undefined ? undefined : cluster.at(slot)?.name;
  }

  /** Counts the pods that are nominated for the node. */
  #rejectionBeside(classified: ClassifiedPod, state: NodeState): Rejection | undefined {
    return this.#rejection(classified, state, this.#options.nominations.on(state.name, classified.pod));
  }

  #rejection(classified: ClassifiedPod, state: NodeState, nominated: readonly PodInfo[] | undefined): Rejection | undefined {
    return nominated === undefined || nominated.length === 0
      ? filterNode(classified, state)
      : new NodeTrial(classified, state, nominated).rejection();
  }

  /** Nodes that only their nominated pods make infeasible. */
  #closed(
    classified: ClassifiedPod,
    set: ResourceClass,
    nominated: ReadonlyMap<number, readonly PodInfo[]>,
  ): ReadonlyMap<number, Rejection> {
    let closed: Map<number, Rejection> | undefined;
    const effects = new Effects(classified);
    for (const [slot, pods] of nominated) {
      const state = this.#options.cluster.at(slot);
      if (state === undefined || set.code(slot) !== 0) continue;
      const refused = new NodeTrial(classified, state, pods, effects).rejection();
      if (refused !== undefined) (closed ??= new Map()).set(slot, refused);
    }
    return closed ?? open;
  }

  #decideNamed(classified: ClassifiedPod, names: readonly string[]): Decision {
    const { cluster } = this.#options;
    const feasible: NodeState[] = [];
    const rejections: [Rejection, number][] = [];
    let found = 0;
    for (const name of names) {
      const state = cluster.node(name);
      if (state === undefined) continue;
      found += 1;
      const refused = this.#rejectionBeside(classified, state);
      if (refused === undefined) feasible.push(state);
      else rejections.push([refused, 1]);
    }
    if (feasible.length === 0) {
      const error = fitErrorOf(cluster.nodeCount, [...rejections, [outside, cluster.nodeCount - found]]);
      // A named node may still be added.
      return { placed: false, error: { ...error, by: new Set([...error.by, 'NodeAffinity']) } };
    }
    let best = -1;
    let slots: number[] = [];
    this.#scan.totals(classified, feasible, ({ slot }, total) => {
      if (total > best) [best, slots] = [total, []];
      if (total === best) slots.push(slot);
    });
    return {
      placed: true,
      node: cluster.at(this.#choose(slots))?.name ?? '',
      feasible: feasible.length,
      ties: slots.length,
    };
  }

  /** For nodes with nominated pods, the reasons are those with the nominated pods counted. */
  #explain(classified: ClassifiedPod, set: ResourceClass, nominated: ReadonlyMap<number, readonly PodInfo[]>): FitError {
    const { cluster } = this.#options;
    const counted = new Map<Rejection, number>();
    const count = (refused: Rejection | undefined, by = 1): void => {
      if (refused !== undefined) counted.set(refused, (counted.get(refused) ?? 0) + by);
    };
    for (const [code, nodes] of set.counts) if (code !== 0) count(this.#rejections.of(code), nodes);
    if (set.feasible > 0) {
      this.#scan.eachPassing(set, (slot) => {
        const state = cluster.at(slot);
        if (state !== undefined && !nominated.has(slot)) count(filterPodRules(classified, state));
      });
    }
    const effects = new Effects(classified);
    for (const [slot, pods] of nominated) {
      const state = cluster.at(slot);
      const code = set.code(slot);
      if (state === undefined) continue;
      if (code !== 0) count(this.#rejections.of(code), -1);
      count(new NodeTrial(classified, state, pods, effects).rejection());
    }
    return fitErrorOf(cluster.nodeCount, counted);
  }

  #choose(slots: readonly number[]): number {
    if (slots.length === 1) return slots[0] ?? 0;
    const { compat, random } = this.#options;
    if (compat.tieBreak === 'random') return slots[Math.floor(random() * slots.length)] ?? 0;
    return slots.toSorted((a, b) => a - b)[this.#lastTie++ % slots.length] ?? 0;
  }
}

/** Number of a pod's rules about other pods. */
function rulesOf({ terms: { required, requiredAnti, preferred, preferredAnti }, pod }: PodInfo): number {
  const constraints = pod.spec?.topologySpreadConstraints?.length ?? 0;
  return required.length + requiredAnti.length + preferred.length + preferredAnti.length + constraints;
}

/** Number of requirements in a pod's node affinity. */
function nodeRulesOf({ pod: { spec } }: PodInfo): number {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    spec?.affinity?.nodeAffinity ?? {};
  let rules = 0;
  for (const { matchExpressions } of required?.nodeSelectorTerms ?? []) rules += matchExpressions?.length ?? 0;
  for (const { preference } of preferred ?? []) rules += preference.matchExpressions?.length ?? 0;
  return rules;
}

const outside: Rejection = { plugin: 'NodeAffinity', resolvable: false, reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"] };
const nothing: ReadonlyMap<number, readonly PodInfo[]> = new Map();
const open: ReadonlyMap<number, Rejection> = new Map();

/** The best nodes for a class without rules about other pods. Nodes that nominations close are removed from the buckets and added again. */
function bestOf(set: ResourceClass, closed: ReadonlyMap<number, Rejection>): { slots: readonly number[]; feasible: number } {
  const { buckets } = set;
  if (closed.size === 0) return { slots: buckets.best, feasible: set.feasible };
  for (const slot of closed.keys()) buckets.remove(slot, set.pointsOf(slot));
  const slots = [...buckets.best];
  for (const slot of closed.keys()) buckets.add(slot, set.pointsOf(slot));
  return { slots, feasible: set.feasible - closed.size };
}

/** The pod has no rules about other pods and prefers no node: only a node's own points count. */
const isIndifferent = ({ topology, nodeSpec }: ClassifiedPod): boolean => topology.isIndifferent && !nodeSpec.hasPoints;

function namedBy({ pod }: PodInfo, { filters }: ProfileConfig): readonly string[] | undefined {
  return filters.has('NodeAffinity') ? namedNodes(pod.spec ?? {}) : undefined;
}

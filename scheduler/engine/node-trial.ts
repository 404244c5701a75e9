import type { NodeLoad, NodeState } from '../cache/node-state.ts';
import type { DomainCounts } from '../cache/counts.ts';
import type { ProfileConfig } from '../config/config.ts';
import { existingAnti, interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { type CountedConstraint, podTopologySpread } from '../plugins/pod-topology-spread.ts';
import type { Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { resourceFilter, type ResourceNeeds } from './resource-class.ts';
import type { NodeSpecClass } from './node-spec-class.ts';
import type { TopologyClass } from './topology-class.ts';
import { labelsKey } from '../cache/pod-groups.ts';
import { isAnyTaken } from '../plugins/node-ports.ts';
import type { AffinityTerms } from '../pod/selectors.ts';

/** The requirements of a pod, with the cached classes that it belongs to. */
export interface ClassifiedPod {
  readonly pod: PodInfo;
  readonly profile: ProfileConfig;
  readonly nodeSpec: NodeSpecClass;
  readonly topology: TopologyClass;
  readonly needs: ResourceNeeds;
}

/** Runs all filters on one node, in their order. Classes must be up to date. */
export function filterNode(classified: ClassifiedPod, state: NodeState): Rejection | undefined {
  const { profile, nodeSpec, needs } = classified;
  return nodeSpec.filter(state) ?? resourceFilter(needs, profile, state) ?? filterPodRules(classified, state);
}

/** Runs the filters that read other pods, which come last. */
export function filterPodRules({ topology }: ClassifiedPod, state: NodeState): Rejection | undefined {
  return podTopologySpread(topology.hard, state.slot) ?? interPodAffinity(topology, state.slot);
}

/** One node without some of its pods, and with the pods that are nominated for it. Changes nothing but this object. */
export class NodeTrial implements WhatIf {
  readonly node: string;
  readonly pods: readonly PodInfo[];
  readonly #classified: ClassifiedPod;
  readonly #state: NodeState;
  readonly #nominated: readonly PodInfo[];
  readonly #removed = new Map<string, PodInfo>();
  readonly #effects: Effects;
  /** Usage by the pods that stay on the node, updated pod by pod. */
  readonly #rest: Rest;
  #portTakersThere: number | undefined;
  #volumeUsersThere: readonly PodInfo[] | undefined;
  /** Result of the filters that read only the node object: pods do not change it. */
  #static: { readonly refused: Rejection | undefined } | undefined;

  /**
   * @param nominated - pods with at least the priority of the pod to schedule, without that pod
   * @param effects - shared by the trials of one decision for the same pod
   */
  constructor(classified: ClassifiedPod, state: NodeState, nominated: readonly PodInfo[], effects = new Effects(classified)) {
    this.node = state.name;
    this.pods = [...state.pods.values()];
    this.#classified = classified;
    this.#state = state;
    this.#nominated = nominated.filter(({ uid }) => !state.pods.has(uid));
    this.#effects = effects;
    this.#rest = new Rest(state);
  }

  remove(pod: PodInfo): void {
    if (this.#removed.has(pod.uid)) return;
    this.#removed.set(pod.uid, pod);
    this.#rest.count(pod, this.#effects.of(pod), -1);
  }

  add(pod: PodInfo): void {
    if (this.#removed.delete(pod.uid)) this.#rest.count(pod, this.#effects.of(pod), 1);
  }

  fits(): boolean {
    return this.rejection() === undefined;
  }

  reasons(): readonly string[] {
    return this.rejection()?.reasons ?? [];
  }

  /** Filters with the nominated pods, and then without them: a nominated pod can also help, but may go to another node. */
  rejection(): Rejection | undefined {
    if (this.#nominated.length > 0) {
      for (const pod of this.#nominated) this.#rest.count(pod, this.#effects.of(pod), 1);
      const refused = this.#filter(this.#nominated);
      for (const pod of this.#nominated) this.#rest.count(pod, this.#effects.of(pod), -1);
      if (refused) return refused;
    }
    return this.#filter([]);
  }

  #filter(added: readonly PodInfo[]): Rejection | undefined {
    const { nodeSpec, topology, needs, profile } = this.#classified;
    const state = this.#state;
    if (added.length === 0 && this.#removed.size === 0) return filterNode(this.#classified, state);
    const { refused } = (this.#static ??= { refused: nodeSpec.filter(state) });
    if (refused) return refused;
    const rest = this.#rest;
    const resources = resourceFilter(needs, profile, state, {
      load: rest,
      isPortTaken: needs.ports.length > 0 && this.#portTakers + rest.portTakers > 0,
      volumeUsers: needs.volumes === undefined ? none : [...this.#volumeUsers.filter(({ uid }) => !this.#removed.has(uid)), ...added],
    });
    if (resources) return resources;
    const spread = podTopologySpread(topology.hard, state.slot, (constraint) => rest.change(constraint));
    if (spread) return spread;
    const neighbours = interPodAffinity(topology, state.slot, (view: DomainCounts) => rest.change(view));
    return neighbours ?? this.#nominatedAntiAffinity(added);
  }

  /** Number of pods on the node with a host port that the pod requests. */
  get #portTakers(): number {
    return (this.#portTakersThere ??= this.pods.filter((pod) => this.#effects.of(pod).takesPort).length);
  }

  get #volumeUsers(): readonly PodInfo[] {
    return (this.#volumeUsersThere ??= this.pods.filter(hasVolumes));
  }

  /** Checks the required anti-affinity of nominated pods, which the counts do not have unless an assigned pod has the same term. */
  #nominatedAntiAffinity(added: readonly PodInfo[]): Rejection | undefined {
    const labels = this.#state.node?.metadata.labels ?? {};
    const rejects = added.some((pod) => this.#classified.topology.antiOf(pod).some((key) => Object.hasOwn(labels, key)));
    return rejects ? existingAnti : undefined;
  }
}

const none: readonly PodInfo[] = [];

function hasVolumes({ pod }: PodInfo): boolean {
  return (pod.spec?.volumes?.length ?? 0) > 0;
}

/** Capacity of a node and its usage by the pods that a trial leaves there. Updated pod by pod, so that each step of a trial costs one pod. */
class Rest implements NodeLoad {
  readonly allocCpu: number;
  readonly allocMemory: number;
  readonly allocEphemeral: number;
  readonly allocPods: number;
  readonly allocScalars: ReadonlyMap<string, number>;
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  usedCpu: number;
  usedMemory: number;
  usedEphemeral: number;
  readonly usedScalars: Map<string, number>;
  podCount: number;
  readonly #changes = new Map<CountedConstraint | DomainCounts, number>();
  /** Change in the number of pods with a requested host port. */
  portTakers = 0;

  constructor(state: NodeState) {
    this.allocCpu = state.allocCpu;
    this.allocMemory = state.allocMemory;
    this.allocEphemeral = state.allocEphemeral;
    this.allocPods = state.allocPods;
    this.allocScalars = state.allocScalars;
    this.scoredCpu = state.scoredCpu;
    this.scoredMemory = state.scoredMemory;
    this.usedCpu = state.usedCpu;
    this.usedMemory = state.usedMemory;
    this.usedEphemeral = state.usedEphemeral;
    this.usedScalars = new Map(state.usedScalars);
    this.podCount = state.podCount;
  }

  /** Adds (1) or removes (-1) a pod. */
  count({ requests }: PodInfo, { counts, takesPort }: Effect, sign: 1 | -1): void {
    this.usedCpu += sign * requests.cpu;
    this.usedMemory += sign * requests.memory;
    this.usedEphemeral += sign * requests.ephemeral;
    for (const [name, amount] of requests.scalars) this.usedScalars.set(name, (this.usedScalars.get(name) ?? 0) + sign * amount);
    this.podCount += sign;
    if (takesPort) this.portTakers += sign;
    for (const [of, amount] of counts) this.#changes.set(of, (this.#changes.get(of) ?? 0) + sign * amount);
  }

  /** Change in the count of a constraint or view. */
  change(of: CountedConstraint | DomainCounts): number {
    return this.#changes.get(of) ?? 0;
  }
}

/**
 * A node without some of its pods, to find out whether a pod would fit there. Nominated pods and reservations of at least the priority of that pod count as if
 * they were assigned. Changes nothing outside; discard it afterwards.
 */
export interface WhatIf {
  readonly node: string;
  /** Pods on the node at the beginning, in no particular order. */
  readonly pods: readonly PodInfo[];
  remove(pod: PodInfo): void;
  /** Puts back what {@link remove} took. */
  add(pod: PodInfo): void;
  fits(): boolean;
  /** Why the pod does not fit now, as text for users; a node counts once for each reason. Never empty if {@link fits} returns false. */
  reasons(): readonly string[];
}

/** What one more pod changes for the pod to schedule. */
export interface Effect {
  /** Increase of the count by constraint and view, without zeros. */
  readonly counts: ReadonlyMap<CountedConstraint | DomainCounts, number>;
  /** It has a host port that the pod to schedule requests. */
  readonly takesPort: boolean;
}

/** Effects of other pods on the pod to schedule, computed once for pods that are alike. Valid for one decision. */
export class Effects {
  readonly #classified: ClassifiedPod;
  readonly #known = new Map<AffinityTerms, Map<string, Effect['counts']>>();

  constructor(classified: ClassifiedPod) {
    this.#classified = classified;
  }

  of(pod: PodInfo): Effect {
    return { counts: this.#countsOf(pod), takesPort: isAnyTaken(this.#classified.needs.ports, pod.ports) };
  }

  #countsOf(pod: PodInfo): Effect['counts'] {
    const { topology } = this.#classified;
    if (!topology.hasFilters) return noCounts;
    let alike = this.#known.get(pod.terms);
    if (alike === undefined) this.#known.set(pod.terms, (alike = new Map<string, Effect['counts']>()));
    const key = `${pod.terminating} ${pod.namespace} ${labelsKey(pod.labels)}`;
    const known = alike.get(key);
    if (known !== undefined) return known;
    const counts = new Map<CountedConstraint | DomainCounts, number>();
    for (const constraint of topology.hard) if (topology.countsIn(constraint, pod)) counts.set(constraint, 1);
    for (const views of [topology.affinity, topology.anti, topology.existingAnti])
      for (const view of views) {
        const adds = topology.addsTo(view, pod);
        if (adds !== 0) counts.set(view, adds);
      }
    alike.set(key, counts);
    return counts;
  }
}

const noCounts: Effect['counts'] = new Map();

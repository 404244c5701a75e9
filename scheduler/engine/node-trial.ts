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

/** Everything that is asked for a pod, kept ready for its class. */
export interface Asked {
  readonly pod: PodInfo;
  readonly profile: ProfileConfig;
  readonly nodeSpec: NodeSpecClass;
  readonly topology: TopologyClass;
  readonly needs: ResourceNeeds;
}

/** All filters on one node as it is, in their order. Classes must be up to date. */
export function filterNode(asked: Asked, state: NodeState): Rejection | undefined {
  const { profile, nodeSpec, needs } = asked;
  return nodeSpec.filter(state) ?? resourceFilter(needs, profile, state) ?? filterNeighbours(asked, state);
}

/** Of all filters those that ask about other pods, which come last. */
export function filterNeighbours({ topology }: Asked, state: NodeState): Rejection | undefined {
  return podTopologySpread(topology.hard, state.slot, undefined) ?? interPodAffinity(topology, state.slot);
}

/** One node with some of its pods away and others on it that are only nominated to it. Nothing but this object changes. */
export class NodeTrial implements WhatIf {
  readonly node: string;
  readonly pods: readonly PodInfo[];
  readonly #asked: Asked;
  readonly #state: NodeState;
  readonly #nominated: readonly PodInfo[];
  readonly #removed = new Map<string, PodInfo>();
  readonly #effects: Effects;
  /** What stays of the pods on the node, kept up to date pod by pod. */
  readonly #rest: Rest;
  #portTakersThere: number | undefined;
  #volumeUsersThere: readonly PodInfo[] | undefined;
  /** Pods that come and go do not change it. */
  #static: { readonly refused: Rejection | undefined } | undefined;

  /**
   * @param nominated - pods with at least the priority of the one in question, and not itself
   * @param effects - shared by trials of one turn for the same pod
   */
  constructor(asked: Asked, state: NodeState, nominated: readonly PodInfo[], effects = new Effects(asked)) {
    this.node = state.name;
    this.pods = [...state.pods.values()];
    this.#asked = asked;
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

  /** With what is nominated, and then without: a promise may also help, and nobody may count on that. */
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
    const { nodeSpec, topology, needs, profile } = this.#asked;
    const state = this.#state;
    if (added.length === 0 && this.#removed.size === 0) return filterNode(this.#asked, state);
    const { refused } = (this.#static ??= { refused: nodeSpec.filter(state) });
    if (refused) return refused;
    const rest = this.#rest;
    const resources = resourceFilter(needs, profile, state, {
      load: rest,
      isPortTaken: needs.ports.length > 0 && this.#portTakers + rest.portTakers > 0,
      volumeUsers: needs.volumes === undefined ? none : [...this.#volumeUsers.filter(({ uid }) => !this.#removed.has(uid)), ...added],
    });
    if (resources) return resources;
    const spread = podTopologySpread(topology.hard, state.slot, undefined, (constraint) => rest.change(constraint));
    if (spread) return spread;
    const neighbours = interPodAffinity(topology, state.slot, (view: DomainCounts) => rest.change(view));
    return neighbours ?? this.#newcomersMind(added);
  }

  /** Pods on the node with a host port that is wanted. */
  get #portTakers(): number {
    return (this.#portTakersThere ??= this.pods.filter((pod) => this.#effects.of(pod).takesPort).length);
  }

  get #volumeUsers(): readonly PodInfo[] {
    return (this.#volumeUsersThere ??= this.pods.filter(hasVolumes));
  }

  /** What nominated pods say of the one in question, where no pod on a node says the same yet. */
  #newcomersMind(added: readonly PodInfo[]): Rejection | undefined {
    const labels = this.#state.node?.metadata.labels ?? {};
    const minds = added.some((pod) => this.#asked.topology.antiOf(pod).some((key) => Object.hasOwn(labels, key)));
    return minds ? existingAnti : undefined;
  }
}

const none: readonly PodInfo[] = [];

function hasVolumes({ pod }: PodInfo): boolean {
  return (pod.spec?.volumes?.length ?? 0) > 0;
}

/** What a node has, and what is taken of it by the pods that a trial leaves there; it follows pod by pod, so that each step of a trial costs one pod. */
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
  /** Pods with a host port that is wanted, more or fewer than there are on the node. */
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

  /** A pod comes (1) or goes (-1). */
  count({ requests }: PodInfo, { counts, takesPort }: Effect, sign: 1 | -1): void {
    this.usedCpu += sign * requests.cpu;
    this.usedMemory += sign * requests.memory;
    this.usedEphemeral += sign * requests.ephemeral;
    for (const [name, amount] of requests.scalars) this.usedScalars.set(name, (this.usedScalars.get(name) ?? 0) + sign * amount);
    this.podCount += sign;
    if (takesPort) this.portTakers += sign;
    for (const [of, amount] of counts) this.#changes.set(of, (this.#changes.get(of) ?? 0) + sign * amount);
  }

  /** How much more a rule or view counts than it does. */
  change(of: CountedConstraint | DomainCounts): number {
    return this.#changes.get(of) ?? 0;
  }
}

/**
 * A node as it would be without some of its pods, and whether a certain pod would fit there then. Nominated pods and reservations of at least its priority
 * count as if they were there. Nothing outside changes; throw it away afterwards.
 */
export interface WhatIf {
  readonly node: string;
  /** Pods on the node at the beginning, in no particular order. */
  readonly pods: readonly PodInfo[];
  remove(pod: PodInfo): void;
  /** Puts back what {@link remove} took. */
  add(pod: PodInfo): void;
  fits(): boolean;
  /** Why it does not fit as the node would be now, as users read it; a node counts once for each. Never empty where {@link fits} says no. */
  reasons(): readonly string[];
}

/** What one more of a pod is for a pod that is to be placed. */
export interface Effect {
  /** By rule and view: how much they count more. Nothing of 0. */
  readonly counts: ReadonlyMap<CountedConstraint | DomainCounts, number>;
  /** It has a host port that is wanted. */
  readonly takesPort: boolean;
}

/** What other pods are for one that is to be placed, worked out once for pods that are alike. Good for one turn. */
export class Effects {
  readonly #asked: Asked;
  readonly #known = new Map<AffinityTerms, Map<string, Effect['counts']>>();

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  of(pod: PodInfo): Effect {
    return { counts: this.#countsOf(pod), takesPort: isAnyTaken(this.#asked.needs.ports, pod.ports) };
  }

  #countsOf(pod: PodInfo): Effect['counts'] {
    const { topology } = this.#asked;
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

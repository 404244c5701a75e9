import type { HostPort } from '../../kube/api/pod-requests.ts';
import type { NodeLoad, NodeState } from '../cache/node-state.ts';
import type { DomainCounts } from '../cache/domain-counts.ts';
import type { ProfileConfig } from '../config/config.ts';
import { existingAnti, interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread.ts';
import type { Rejection } from '../plugins/rejection.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { localFilter, type LocalNeeds } from './pod-class.ts';
import type { StaticClass } from './static-class.ts';
import type { WhatIf } from './what-if.ts';
import type { WideClass } from './wide-class.ts';

/** Everything that is asked for a pod, kept ready for its class. */
export interface Asked {
  readonly pod: PodInfo;
  readonly profile: ProfileConfig;
  readonly statics: StaticClass;
  readonly wide: WideClass;
  readonly needs: LocalNeeds;
}

/** All filters on one node as it is, in their order. Classes must be up to date. */
export function filterNode({ profile, statics, wide, needs }: Asked, state: NodeState): Rejection | undefined {
  return (
    statics.filter(state) ??
    localFilter(needs, profile, state) ??
    podTopologySpread(wide.hard, state.slot, undefined) ??
    interPodAffinity(wide, state.slot)
  );
}

/** One node with some of its pods away and others on it that are only promised to it. Nothing but this object changes. */
export class NodeTrial implements WhatIf {
  readonly node: string;
  readonly pods: readonly PodInfo[];
  readonly #asked: Asked;
  readonly #state: NodeState;
  readonly #promised: readonly PodInfo[];
  readonly #removed = new Map<string, PodInfo>();

  /** @param promised - pods with at least the priority of the one in question, and not itself */
  constructor(asked: Asked, state: NodeState, promised: readonly PodInfo[]) {
    this.node = state.name;
    this.pods = [...state.pods.values()];
    this.#asked = asked;
    this.#state = state;
    this.#promised = promised.filter(({ uid }) => !state.pods.has(uid));
  }

  remove(pod: PodInfo): void {
    this.#removed.set(pod.uid, pod);
  }

  add(pod: PodInfo): void {
    this.#removed.delete(pod.uid);
  }

  fits(): boolean {
    return this.refusal() === undefined;
  }

  reasons(): readonly string[] {
    return this.refusal()?.reasons ?? [];
  }

  /** With what is promised, and then without: a promise may also help, and nobody may count on that. */
  refusal(): Rejection | undefined {
    if (this.#promised.length > 0) {
      const refused = this.#filter(this.#promised);
      if (refused) return refused;
    }
    return this.#filter([]);
  }

  #filter(added: readonly PodInfo[]): Rejection | undefined {
    const { statics, wide, needs, profile } = this.#asked;
    const state = this.#state;
    const removed = this.#removed;
    if (added.length === 0 && removed.size === 0) return filterNode(this.#asked, state);
    const rest = [...state.pods.values(), ...added].filter(({ uid }) => !removed.has(uid));
    const refused = statics.filter(state) ?? localFilter(needs, profile, state, loadOf(state, rest), portsOf(rest), rest);
    if (refused) return refused;
    const change = (count: (pod: PodInfo) => number): number => {
      let sum = 0;
      for (const pod of added) sum += count(pod);
      for (const pod of removed.values()) sum -= count(pod);
      return sum;
    };
    const spread = podTopologySpread(wide.hard, state.slot, undefined, (constraint) =>
      change((pod) => (wide.countsIn(constraint, pod) ? 1 : 0)),
    );
    if (spread) return spread;
    const neighbours = interPodAffinity(wide, state.slot, (view: DomainCounts) => change((pod) => wide.addsTo(view, pod)));
    return neighbours ?? this.#newcomersMind(added);
  }

  /** What promised pods say of the one in question, where no pod on a node says the same yet. */
  #newcomersMind(added: readonly PodInfo[]): Rejection | undefined {
    const labels = this.#state.node?.metadata.labels ?? {};
    const minds = added.some((pod) => this.#asked.wide.antiOf(pod).some((key) => Object.hasOwn(labels, key)));
    return minds ? existingAnti : undefined;
  }
}

/** What a node has, with these pods on it and no others. */
function loadOf(state: NodeState, pods: readonly PodInfo[]): NodeLoad {
  const { allocCpu, allocMemory, allocEphemeral, allocPods, allocScalars } = state;
  const usedScalars = new Map<string, number>();
  let [usedCpu, usedMemory, usedEphemeral] = [0, 0, 0];
  for (const { requests } of pods) {
    usedCpu += requests.cpu;
    usedMemory += requests.memory;
    usedEphemeral += requests.ephemeral;
    for (const [name, amount] of requests.scalars) usedScalars.set(name, (usedScalars.get(name) ?? 0) + amount);
  }
  const { scoredCpu, scoredMemory } = state;
  const used = { usedCpu, usedMemory, usedEphemeral, usedScalars, scoredCpu, scoredMemory };
  return { allocCpu, allocMemory, allocEphemeral, allocPods, allocScalars, ...used, podCount: pods.length };
}

function portsOf(pods: readonly PodInfo[]): HostPort[] {
  return pods.flatMap(({ ports }) => ports);
}

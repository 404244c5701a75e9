import type { NodeState } from '../cache/node-state.ts';
import type { DomainCounts } from '../cache/domain-counts.ts';
import type { ProfileConfig } from '../config/config.ts';
import { existingAnti, interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread.ts';
import type { Rejection } from '../plugins/rejection.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { Effects } from './effects.ts';
import { localFilter, type LocalNeeds } from './pod-class.ts';
import { Rest } from './rest.ts';
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
export function filterNode(asked: Asked, state: NodeState): Rejection | undefined {
  const { profile, statics, needs } = asked;
  return statics.filter(state) ?? localFilter(needs, profile, state) ?? filterNeighbours(asked, state);
}

/** Of all filters those that ask about other pods, which come last. */
export function filterNeighbours({ wide }: Asked, state: NodeState): Rejection | undefined {
  return podTopologySpread(wide.hard, state.slot, undefined) ?? interPodAffinity(wide, state.slot);
}

/** One node with some of its pods away and others on it that are only promised to it. Nothing but this object changes. */
export class NodeTrial implements WhatIf {
  readonly node: string;
  readonly pods: readonly PodInfo[];
  readonly #asked: Asked;
  readonly #state: NodeState;
  readonly #promised: readonly PodInfo[];
  readonly #removed = new Map<string, PodInfo>();
  readonly #effects: Effects;
  /** What stays of the pods on the node, kept up to date pod by pod. */
  readonly #rest: Rest;
  #portTakersThere: number | undefined;
  #volumeUsersThere: readonly PodInfo[] | undefined;
  /** Pods that come and go do not change it. */
  #static: { readonly refused: Rejection | undefined } | undefined;

  /**
   * @param promised - pods with at least the priority of the one in question, and not itself
   * @param effects - shared by trials of one turn for the same pod
   */
  constructor(asked: Asked, state: NodeState, promised: readonly PodInfo[], effects = new Effects(asked)) {
    this.node = state.name;
    this.pods = [...state.pods.values()];
    this.#asked = asked;
    this.#state = state;
    this.#promised = promised.filter(({ uid }) => !state.pods.has(uid));
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
    return this.refusal() === undefined;
  }

  reasons(): readonly string[] {
    return this.refusal()?.reasons ?? [];
  }

  /** With what is promised, and then without: a promise may also help, and nobody may count on that. */
  refusal(): Rejection | undefined {
    if (this.#promised.length > 0) {
      for (const pod of this.#promised) this.#rest.count(pod, this.#effects.of(pod), 1);
      const refused = this.#filter(this.#promised);
      for (const pod of this.#promised) this.#rest.count(pod, this.#effects.of(pod), -1);
      if (refused) return refused;
    }
    return this.#filter([]);
  }

  #filter(added: readonly PodInfo[]): Rejection | undefined {
    const { statics, wide, needs, profile } = this.#asked;
    const state = this.#state;
    if (added.length === 0 && this.#removed.size === 0) return filterNode(this.#asked, state);
    const { refused } = (this.#static ??= { refused: statics.filter(state) });
    if (refused) return refused;
    const rest = this.#rest;
    const local = localFilter(needs, profile, state, {
      load: rest,
      isPortTaken: needs.ports.length > 0 && this.#portTakers + rest.portTakers > 0,
      volumeUsers: needs.volumes === undefined ? none : [...this.#volumeUsers.filter(({ uid }) => !this.#removed.has(uid)), ...added],
    });
    if (local) return local;
    const spread = podTopologySpread(wide.hard, state.slot, undefined, (constraint) => rest.change(constraint));
    if (spread) return spread;
    const neighbours = interPodAffinity(wide, state.slot, (view: DomainCounts) => rest.change(view));
    return neighbours ?? this.#newcomersMind(added);
  }

  /** Pods on the node with a host port that is wanted. */
  get #portTakers(): number {
    return (this.#portTakersThere ??= this.pods.filter((pod) => this.#effects.of(pod).takesPort).length);
  }

  get #volumeUsers(): readonly PodInfo[] {
    return (this.#volumeUsersThere ??= this.pods.filter(hasVolumes));
  }

  /** What promised pods say of the one in question, where no pod on a node says the same yet. */
  #newcomersMind(added: readonly PodInfo[]): Rejection | undefined {
    const labels = this.#state.node?.metadata.labels ?? {};
    const minds = added.some((pod) => this.#asked.wide.antiOf(pod).some((key) => Object.hasOwn(labels, key)));
    return minds ? existingAnti : undefined;
  }
}

const none: readonly PodInfo[] = [];

function hasVolumes({ pod }: PodInfo): boolean {
  return (pod.spec?.volumes?.length ?? 0) > 0;
}

import type { DomainCounts } from '../cache/domain-counts.ts';
import type { NodeLoad, NodeState } from '../cache/node-state.ts';
import type { CountedConstraint } from '../plugins/pod-topology-spread.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Effect } from './effects.ts';

/** What a node has, and what is taken of it by the pods that a trial leaves there; it follows pod by pod, so that each step of a trial costs one pod. */
export class Rest implements NodeLoad {
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

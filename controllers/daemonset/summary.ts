import { HASH_LABEL } from '../common/history/contract.ts';
import type { Counts, UpdateState, NodeState } from './node-state.ts';
import type { Pod } from './types.ts';

type Sums = { -readonly [count in keyof Counts]: number };

/**
 * All nodes of a set together. Adding a node's state and taking it away again are exact opposites, so that a change of one node costs one node,
 * and what comes out is what a recount of all would give.
 */
export class Summary {
  readonly counts: Sums = { desired: 0, current: 0, ready: 0, available: 0, updated: 0, misscheduled: 0 };
  readonly updateStates: Record<UpdateState, number> = {
    outside: 0,
    empty: 0,
    updated: 0,
    updating: 0,
    old: 0,
    broken: 0,
    both: 0,
    excess: 0,
  };
  /** Nodes whose old pod, or new one where there is no old, is available. */
  serving = 0;
  /** Nodes that should run and have a pod of the present revision, ready or not. */
  renewed = 0;
  /** Pods of each revision, by hash; those that have ended and are going too. */
  readonly hashes = new Map<string, number>();
  /** Nodes where there is something to do, to wait for or to update. */
  readonly pendingNodes = new Map<string, NodeState>();

  add(state: NodeState): void {
    this.#count(state, 1);
    if (!state.settled) this.pendingNodes.set(state.nodePods.node, state);
  }

  remove(state: NodeState): void {
    this.#count(state, -1);
    this.pendingNodes.delete(state.nodePods.node);
  }

  /** Restless nodes by name, so that the same cluster gives the same plan. */
  inOrder(): NodeState[] {
    return [...this.pendingNodes.values()].toSorted(byName);
  }

  /** Those where something may have to be done, without those that are only waited for: while a thousand pods become ready these are most. */
  actionable(): NodeState[] {
    return [...this.pendingNodes.values()]
      .filter(({ work, updateState }) => work !== undefined || !QUIET.has(updateState))
      .toSorted(byName);
  }

  #count({ counts, updateState, serves, nodePods, fresh }: NodeState, by: 1 | -1): void {
    const { counts: sums } = this;
    sums.desired += by * counts.desired;
    sums.current += by * counts.current;
    sums.ready += by * counts.ready;
    sums.available += by * counts.available;
    sums.updated += by * counts.updated;
    sums.misscheduled += by * counts.misscheduled;
    this.updateStates[updateState] += by;
    if (serves) this.serving += by;
    if (fresh !== undefined && nodePods.known?.decision.run === true) this.renewed += by;
    for (const pod of nodePods.pods) this.#countHash(pod, by);
    for (const pod of nodePods.ended) this.#countHash(pod, by);
  }

  #countHash({ metadata }: Readonly<Pod>, by: 1 | -1): void {
    const hash = metadata.labels?.[HASH_LABEL];
    if (hash === undefined) return;
    const count = (this.hashes.get(hash) ?? 0) + by;
    if (count === 0) this.hashes.delete(hash);
    else this.hashes.set(hash, count);
  }
}

/** Nothing is replaced there. */
const QUIET: ReadonlySet<UpdateState> = new Set(['outside', 'updated', 'updating']);

const byName = (a: NodeState, b: NodeState): number => (a.nodePods.node < b.nodePods.node ? -1 : 1);

/** From nothing. */
export function summarize(states: Iterable<NodeState>): Summary {
  const summary = new Summary();
  for (const state of states) summary.add(state);
  return summary;
}

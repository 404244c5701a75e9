import { HASH_LABEL, type Revision } from '../common/history/contract.ts';
import { type Counts, type NodeState, nodeStateOf, type UpdateState } from './node-state.ts';
import type { Node, Pod } from '../common/types.ts';
import type { Millis } from '../../base/clock.ts';
import type { SetFacts } from './observe.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { nameOf, nodePodsOf, nowhere, targetNode } from './pods.ts';
import type { Memory } from '../common/set-memory.ts';
import { type Decide, decision } from './placement/node-decision.ts';
import { planOwnership } from './plan.ts';
import { type Rules, selects } from './rules.ts';
import type { Counted } from './status-counter.ts';

type Sums = { -readonly [count in keyof Counts]: number };

/**
 * The sums over all nodes of a set. `remove` exactly reverts `add`, so that a change of one node costs the recount of one node, and the result equals
 * a full recount.
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
  /** Nodes whose old pod, or new one when there is no old one, is available. */
  serving = 0;
  /** Nodes that should run and have a pod of the present revision, ready or not. */
  renewed = 0;
  /** Number of pods of each revision, by hash; terminating pods that have ended count too. */
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

  /** Pending nodes by name, so that the same cluster gives the same plan. */
  inOrder(): NodeState[] {
    return [...this.pendingNodes.values()].toSorted(byName);
  }

  /** Pending nodes that may have work, without those that only wait: while a thousand pods become ready, most only wait. */
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

/** States in which no pod is replaced. */
const QUIET: ReadonlySet<UpdateState> = new Set(['outside', 'updated', 'updating']);

const byName = (a: NodeState, b: NodeState): number => (a.nodePods.node < b.nodePods.node ? -1 : 1);

function summarize(states: Iterable<NodeState>): Summary {
  const summary = new Summary();
  for (const state of states) summary.add(state);
  return summary;
}

/** The part of a cluster that the facts of a set depend on. */
interface Cluster {
  nodes: readonly Readonly<Node>[];
  /** The set's pods and those that it might adopt. */
  pods: readonly Readonly<Pod>[];
  revisions: readonly Readonly<Revision>[];
  now: Millis;
  /** @see SetFacts */
  pendingMs: Millis;
  memory: Memory;
}

/** The facts of a set, and the states of the nodes that they were computed from. */
interface Recounted {
  facts: SetFacts;
  states: readonly NodeState[];
}

/**
 * Computes the facts of a set from whole lists. The controller counts node by node (`status-counter.ts`); the results must be equal.
 * @param decide - @default scheduler placement
 */
export function recount(rules: Rules, cluster: Cluster, decide: Decide = decision(rules)): Recounted {
  const { nodes, now, pendingMs, memory, revisions } = cluster;
  const claims = planClaim(rules.set, cluster.pods, selects(rules));
  let states: readonly NodeState[] = [];
  const count = (hash: string, adopted: readonly Readonly<Pod>[]): Counted => {
    const byNode = Map.groupBy([...claims.keep, ...adopted], (pod) => targetNode(pod));
    const strays = byNode.get(undefined) ?? [];
    const known = new Map(nodes.map((object) => [nameOf(object), { object, decision: decide(object) }]));
    const names = new Set([...known.keys(), ...[...byNode.keys()].filter((name) => name !== undefined)]);
    states = [...names].map((name) => nodeStateOf(rules, hash, nodePodsOf(name, known.get(name), byNode.get(name) ?? []), now));
    const summary = summarize(strays.length === 0 ? states : [...states, nodeStateOf(rules, hash, nowhere(strays), now)]);
    return { summary, unselected: claims.release };
  };
  const observed = { rules, now, pendingMs, memory, revisions, orphans: cluster.pods, ownPods: () => claims.keep, count };
  const facts = planOwnership(observed);
  if (facts === undefined) throw new TypeError('a recount counts all nodes at once');
  return { facts, states };
}

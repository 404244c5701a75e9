import type { Millis } from '../../base/clock.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import { isControlledBy } from '../../kube/controller/owners.ts';
import { ON_NODE, type SetFacts } from './observe.ts';
import { decideAndSimulate } from './placement/three-values.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import type { Revision } from '../common/history/contract.ts';
import { nameOf, nodePodsOf, nowhere, targetNode } from './pods.ts';
import type { Memory } from '../common/set-memory.ts';
import { type NodeState, nodeStateOf } from './node-state.ts';
import { decideNode, type Decision } from './placement/node-decision.ts';
import { planOwnership } from './plan.ts';
import { type Rules, selects } from './rules.ts';
import type { Counted } from './status-counter.ts';
import { summarize } from './summary.ts';
import type { Node, Pod } from './types.ts';

/** A cluster as a set sees it. */
export interface Cluster {
  nodes: readonly Readonly<Node>[];
  /** The set's pods and those that it might adopt. */
  pods: readonly Readonly<Pod>[];
  revisions: readonly Readonly<Revision>[];
  now: Millis;
  /** @see SetFacts */
  pendingMs: Millis;
  memory: Memory;
}

export type Decide = (node: Readonly<Node>) => Decision;

/** The facts of a set, and of each node what they were made of. */
export interface Recounted {
  facts: SetFacts;
  states: readonly NodeState[];
}

/**
 * The facts of a set from whole lists. The controller keeps its count node by node (`status-counter.ts`); what it keeps must be what this gives.
 * @param decide - @default as where a scheduler places pods
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
  return { facts: planOwnership(observed), states };
}

export function decision({ template, tolerations }: Rules): Decide {
  return (node) => decideNode(template, tolerations, node);
}

/** Decides where the controller places pods: with the other pods on the node, without the set's own, whose requests and ports would count against them. */
export function decideByRoom({ template, tolerations, critical, set }: Rules, pods: Pick<Informer<Pod>, 'indexed'>): Decide {
  return (node) => {
    const others = pods.indexed(ON_NODE, nameOf(node)).filter((pod) => !isControlledBy(pod, set));
    return decideAndSimulate({ template, tolerations, node, others, critical });
  };
}

import { jsonEqual } from '../../kube/api/json.ts';
import type { Change } from '../../kube/cache/change.ts';
import { objectKey, type Key } from '../../kube/cache/contract.ts';
import { type Decide, decision, type Decision } from './placement/node-decision.ts';
import type { Rules } from './rules.ts';
import type { DaemonSet, Node, Pod } from '../common/types.ts';
import type { EnqueueRequest } from '../../kube/controller/controller.ts';
import { isOver } from './pods.ts';

export interface NodeEdge {
  sets: Iterable<Readonly<DaemonSet>>;
  rules: (set: Readonly<DaemonSet>) => Rules;
  /** Whether the set has a pod on the node. */
  hasPods: (set: Readonly<DaemonSet>, node: string) => boolean;
}

/**
 * Sets to enqueue when a node changes.
 *
 * | node | sets |
 * | --- | --- |
 * | added, or deleted | that should run there, or have pods there |
 * | labels or taints changed | whose decision changed: should run, may keep |
 * | labels changed | with `dkc.dev/rollout-node-selector` |
 * | anything else changed | none |
 *
 * Where the controller places pods, any relevant change of a node may make room: every set is enqueued.
 */
export function enqueueOnNode(change: Change<Node>, { sets, rules, hasPods }: NodeEdge): Key[] {
  if (change.do === 'update' && !isRelevant(change)) return [];
  const keys: Key[] = [];
  for (const set of sets) {
    const of = rules(set);
    if (of.placement === 'controller' || isConcerned(change, of, decision(of), (node) => hasPods(set, node))) keys.push(objectKey(set));
  }
  return keys;
}

/** Most updates of nodes are heartbeats, which change nothing that a set depends on. */
export function isRelevant({ before, after }: { before: Readonly<Node>; after: Readonly<Node> }): boolean {
  return !(
    same(before.metadata.labels ?? none, after.metadata.labels ?? none) &&
    same(before.spec?.taints ?? noTaints, after.spec?.taints ?? noTaints) &&
    same(before.status, after.status)
  );
}

const none = {};
const noTaints: never[] = [];

/** Caches keep unchanged parts as the same objects. */
function same(before: unknown, after: unknown): boolean {
  return before === after || jsonEqual(before, after);
}

function isConcerned(change: Change<Node>, { optIns }: Rules, decide: Decide, hasPods: (node: string) => boolean): boolean {
  switch (change.do) {
    case 'add':
      return decide(change.object).run || hasPods(change.object.metadata.name ?? '');
    case 'delete':
      return decide(change.last).run || hasPods(change.last.metadata.name ?? '');
    case 'update':
      return optIns.rolloutNodes !== undefined || differs(decide(change.before), decide(change.after));
  }
}

const differs = (a: Decision, b: Decision): boolean => a.run !== b.run || a.keep !== b.keep;

/**
 * Which sets want to run on a node that has no room for them. Where the controller places pods, no scheduler retries them, so the controller must remember
 * which sets to enqueue when a pod there is deleted.
 */
export class SuspendedSets {
  readonly #byNode = new Map<string, Set<Key>>();

  /** A set waits for room on a node. */
  add(set: Key, node: string): void {
    const waiting = this.#byNode.get(node);
    if (waiting === undefined) this.#byNode.set(node, new Set([set]));
    else waiting.add(set);
  }

  /** @returns the sets to enqueue when a pod has left the node; each stays recorded until its next plan */
  freed(node: string): Key[] {
    return [...(this.#byNode.get(node) ?? [])];
  }

  /** Forgets a set on all nodes. */
  forgetSet(set: Key): void {
    for (const [node, waiting] of this.#byNode) if (waiting.delete(set) && waiting.size === 0) this.#byNode.delete(node);
  }

  /** Number of pairs of set and node. */
  get size(): number {
    let size = 0;
    for (const waiting of this.#byNode.values()) size += waiting.size;
    return size;
  }
}

/** Enqueues the sets that wait for resources of a node when any pod on it ends or is deleted. */
export function enqueueOnFreedNode(change: Change<Pod>, suspended: SuspendedSets): EnqueueRequest[] {
  const node = freedNode(change);
  return node === undefined || node === '' ? [] : suspended.freed(node).map((key) => ({ key, limited: true }));
}

function freedNode(change: Change<Pod>): string | undefined {
  switch (change.do) {
    case 'add':
      return undefined;
    case 'delete':
      return change.last.spec?.nodeName;
    case 'update':
      return !isOver(change.before) && isOver(change.after) ? change.after.spec?.nodeName : undefined;
  }
}

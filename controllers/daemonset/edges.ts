import { jsonEqual } from '../../kube/api/json.ts';
import type { Change } from '../../kube/cache/change.ts';
import { objectKey, type Key } from '../../kube/cache/contract.ts';
import type { Decision } from './placement/decision.ts';
import { decision, type Decide } from './recount.ts';
import type { Rules } from './rules.ts';
import type { DaemonSet, Node } from './types.ts';

export interface NodeEdge {
  sets: Iterable<Readonly<DaemonSet>>;
  rules: (set: Readonly<DaemonSet>) => Rules;
  /** The set has a pod there. */
  hasPods: (set: Readonly<DaemonSet>, node: string) => boolean;
}

/**
 * Sets that a change of a node concerns.
 *
 * | node | sets |
 * | --- | --- |
 * | came, or went | that should run there, or have pods there |
 * | labels or taints changed | whose decision changed: should run, may keep |
 * | labels changed | that choose by labels whom to update |
 * | anything else changed | none |
 *
 * Where the controller places pods, whatever changes of a node may make room: every set looks again.
 */
export function wakesOfNode(change: Change<Node>, { sets, rules, hasPods }: NodeEdge): Key[] {
  if (change.do === 'update' && !isRelevant(change)) return [];
  const keys: Key[] = [];
  for (const set of sets) {
    const of = rules(set);
    if (of.placement === 'controller' || isConcerned(change, of, decision(of), (node) => hasPods(set, node))) keys.push(objectKey(set));
  }
  return keys;
}

/** Heartbeats are most of what nodes do: nothing that a set could ask of them is different after one. */
export function isRelevant({ before, after }: { before: Readonly<Node>; after: Readonly<Node> }): boolean {
  return !(
    same(before.metadata.labels ?? none, after.metadata.labels ?? none) &&
    same(before.spec?.taints ?? noTaints, after.spec?.taints ?? noTaints) &&
    same(before.status, after.status)
  );
}

const none = {};
const noTaints: never[] = [];

/** Caches keep what did not change as the same object. */
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

import { noActions, type PodActions } from './actions.ts';
import type { SetFacts } from './observe.ts';
import type { NodeState } from './node-state.ts';
import { isOver } from './pods.ts';
import { resolveIntOrPercent } from '../../kube/api/quantity.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Rules } from './rules.ts';
import type { Summary } from './summary.ts';

/**
 * Outdated pods to delete; their successors are created once they are gone. Unavailable ones are deleted at once, since nothing is lost, and still count
 * against the budget; then as many of the others as the budget allows, in the order of their nodes' names. When a partition limits the number of updated
 * nodes, nodes whose outdated pod is still terminating count: the pods created there will be of the update revision.
 */
export function planUpdate({ rules, summary }: SetFacts, states: readonly NodeState[]): PodActions {
  const actions = noActions();
  const { maxUnavailable, updatable, mayUpdate } = limitsOf(rules, summary);
  const { empty, updating, broken, both, excess } = summary.updateStates;
  const eligible = (updateState: 'broken' | 'old'): NodeState[] =>
    states.filter((one) => one.updateState === updateState && mayUpdate(one));
  const budget = Math.max(0, maxUnavailable - (empty + updating + broken + both + excess));
  const chosen = [...eligible('broken'), ...eligible('old').slice(0, budget)];
  const underWay = states.filter(
    (one) => one.updateState === 'empty' && one.nodePods.known?.decision.run === true && mayUpdate(one),
  ).length;
  for (const { old, nodePods } of updatable === Infinity ? chosen : chosen.slice(0, Math.max(0, updatable - underWay)))
    if (old !== undefined) actions.deletions.push({ pod: old, node: nodePods.node, reason: 'update' });
  return actions;
}

/**
 * New pods beside outdated ones, which are deleted when the new ones are available.
 *
 * | on the node | what |
 * | --- | --- |
 * | old pod, not available; node should run | create a new one at once, whatever the budget |
 * | old pod, not available; node should not run | delete the old one |
 * | old pod, available; node should run | create a new one, if the budget allows |
 * | old pod, available; node should not run | delete it while more are available than desired |
 * | both, new not available | wait; counts against the budget |
 * | both, new available | delete the old one |
 */
export function planSurge({ rules, summary, history, memory }: SetFacts, states: readonly NodeState[]): PodActions {
  const actions = noActions();
  const { maxSurge, updatable, mayUpdate } = limitsOf(rules, summary);
  const now: NodeState[] = [];
  const candidates: NodeState[] = [];
  const leaving: NodeState[] = [];
  let surging = summary.updateStates.excess;
  for (const state of states) {
    const { updateState, nodePods, old, work } = state;
    const run = nodePods.known?.decision.run === true;
    // The node has no room: no pod is created there, and existing pods stay.
    if (work?.suspended === true) continue;
    if (updateState === 'both') {
      if (!state.freshAvailable) surging += 1;
      else if (old !== undefined) actions.deletions.push({ pod: old, node: nodePods.node, reason: 'surged' });
    } else if (nodePods.known === undefined || old === undefined || !mayUpdate(state)) continue;
    else if (updateState === 'old') (run ? candidates : leaving).push(state);
    else if (updateState === 'broken') {
      if (!run) actions.deletions.push({ pod: old, node: nodePods.node, reason: 'update' });
      // A node that rejected the old pod would most likely reject the new one too.
      else if (!isOver(old) || memory.backoffMs(nodePods.node) === 0) now.push(state);
    }
  }
  const created = [...now, ...candidates.slice(0, Math.max(0, maxSurge - surging))];
  for (const { nodePods } of updatable === Infinity ? created : created.slice(0, updatable))
    actions.creations.push({ node: nodePods.node, hash: history.hash, template: rules.template, present: true });
  for (const { nodePods, old } of leaving.slice(0, Math.max(0, summary.serving - summary.counts.desired)))
    if (old !== undefined) actions.deletions.push({ pod: old, node: nodePods.node, reason: 'update' });
  return actions;
}

/** How far an update may go in one reconcile. */
export interface Limits {
  /** Nodes that may be without an available pod at once. 0 while surging. */
  maxUnavailable: number;
  /** Nodes that may have a new pod beside the old one at once. */
  maxSurge: number;
  /** Nodes that may still be given the present revision; Infinity unless a partition keeps some at the old one. */
  updatable: number;
  /** Whether pods may be replaced on the node, leaving `updatable` aside. */
  mayUpdate: (state: NodeState) => boolean;
}

/** Percentages are of the desired nodes, rounded up. An invalid value counts as the default. */
export function limitsOf(rules: Rules, { counts, renewed }: Summary): Limits {
  const { optIns, update } = rules;
  const { desired } = counts;
  const of = (value: number | string | undefined): number | undefined => resolveIntOrPercent(value, desired, { round: 'up' });
  const maxSurge = update.type === 'RollingUpdate' ? (of(update.maxSurge) ?? 0) : 0;
  const asked = update.type === 'RollingUpdate' ? (of(update.maxUnavailable) ?? 1) : 0;
  // With both at 0, no update would ever complete.
  const maxUnavailable = asked === 0 && maxSurge === 0 && desired > 0 ? 1 : asked;
  const kept = of(optIns.partition) ?? 0;
  const updatable = kept > 0 ? Math.max(0, desired - kept - renewed) : Infinity;
  const { rolloutNodes } = optIns;
  return {
    maxUnavailable,
    maxSurge,
    updatable,
    mayUpdate: ({ nodePods }) => rolloutNodes === undefined || matchesLabels(rolloutNodes, nodePods.known?.object.metadata.labels),
  };
}

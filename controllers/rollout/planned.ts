import { CLUSTER_WAIT } from './cluster/places.ts';
import type { Action, Decision, Facts } from './contract.ts';
import { hasCondition } from './drain/record.ts';
import type { Groups } from './grouping.ts';
import { nodeOf } from './maintenance.ts';
import type { Placement } from './placing.ts';
import { isReturn, type Progress } from './progress.ts';
import { maxUnavailableOf, targetOf } from './rules.ts';
import { MAX_TOUCHES } from './touches.ts';

/** What may be waited for for long, and ends with time or by a person: a rollout that is paused has nothing planned. */
const WAITS: ReadonlySet<string> = new Set(['Window', 'Approval', 'Hold', 'Gates', 'MaxUnavailable', CLUSTER_WAIT]);

export interface Waiting {
  facts: Facts;
  groups: Groups;
  touched: number;
  /** In the order in which they are touched. */
  candidates: readonly Placement[];
}

/**
 * While a rollout waits and has nothing in flight, the nodes that come next say so on their Node: as many as are touched at once. They carry it until they are
 * touched, which replaces it in the same write, or until others come next. So a fleet of any size has a write for each of these nodes at each wait, and none
 * while the rollout goes from node to node.
 */
export function withPlanned(waiting: Waiting, decision: Decision): Decision {
  const next = new Set(nextOf(waiting, decision).map(({ node }) => node));
  const touched = new Set(decision.actions?.flatMap((action) => ('node' in action ? [action.node.node] : [])));
  const over = waiting.groups.of('planned').filter(({ node }) => !next.has(node) && !touched.has(node.node));
  const more = [...next].filter((node) => !hasCondition(nodeOf(node), 'MaintenancePlanned') && !touched.has(node.node));
  if (over.length + more.length === 0) return decision;
  const actions: Action[] = [
    ...over.map(({ node }): Action => ({ do: 'give-back', node })),
    ...more.map((node): Action => ({ do: 'plan-maintenance', node })),
  ];
  return { ...decision, actions: [...(decision.actions ?? []), ...actions] };
}

function nextOf({ facts, groups, touched, candidates }: Waiting, { progress, waitsFor = '' }: Decision): readonly Placement[] {
  const { rules, fleet } = facts;
  if (progress === undefined || !WAITS.has(waitsFor) || groups.of('in-flight').length > 0) return [];
  const most = Math.min(stepEnd(facts, progress, touched) - touched, maxUnavailableOf(rules, fleet.size), MAX_TOUCHES);
  const { spreadBy } = rules;
  const domain = spreadBy === undefined ? undefined : candidates[0]?.node.labels[spreadBy];
  const next: Placement[] = [];
  for (const one of candidates) {
    if (next.length >= most) break;
    if (spreadBy === undefined || one.node.labels[spreadBy] === domain) next.push(one);
  }
  return next;
}

/** How many nodes have the revision at the end of the step that touches the next one. */
function stepEnd({ rules, fleet: { size } }: Facts, progress: Progress, touched: number): number {
  if (progress.complete || isReturn(progress)) return size;
  const ends = rules.steps.slice(progress.step - 1).map((step) => targetOf(step, size));
  return ends.find((end) => end > touched) ?? size;
}

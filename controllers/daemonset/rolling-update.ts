import { noActions, type PodActions } from './actions.ts';
import type { SetFacts } from './facts.ts';
import type { Verdict } from './judge.ts';
import { limitsOf } from './limits.ts';

/**
 * Old pods to delete; manage makes their successors once they are gone. Those that are not available go at once, since nothing is lost by it, and
 * count against the budget all the same; then as many of the others as the budget leaves, in the order of their nodes' names. Where a partition leaves
 * room for so many only, nodes whose old pod is still going have taken theirs: what is made there will be of the present revision.
 */
export function planUpdate({ rules, summary }: SetFacts, verdicts: readonly Verdict[]): PodActions {
  const actions = noActions();
  const { maxUnavailable, room, mayUpdate } = limitsOf(rules, summary);
  const { empty, updating, broken, both, excess } = summary.standings;
  const eligible = (standing: 'broken' | 'old'): Verdict[] => verdicts.filter((one) => one.standing === standing && mayUpdate(one));
  const budget = Math.max(0, maxUnavailable - (empty + updating + broken + both + excess));
  const chosen = [...eligible('broken'), ...eligible('old').slice(0, budget)];
  const underWay = verdicts.filter((one) => one.standing === 'empty' && one.cell.known?.decision.run === true && mayUpdate(one)).length;
  for (const { old, cell } of room === Infinity ? chosen : chosen.slice(0, Math.max(0, room - underWay)))
    if (old !== undefined) actions.deletions.push({ pod: old, node: cell.node, because: 'update' });
  return actions;
}

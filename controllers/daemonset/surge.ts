import { noActions, type PodActions } from './actions.ts';
import type { SetFacts } from './facts.ts';
import type { Verdict } from './judge.ts';
import { limitsOf } from './limits.ts';
import { isOver } from './pods.ts';

/**
 * New pods beside old ones, which go when the new ones are available.
 *
 * | on the node | what |
 * | --- | --- |
 * | old pod, not available; node should run | a new one at once, whatever the budget |
 * | old pod, not available; node should not run | the old one goes |
 * | old pod, available; node should run | a new one, if the budget allows |
 * | old pod, available; node should not run | goes while more are available than desired |
 * | both, new not available | wait; counts against the budget |
 * | both, new available | the old one goes |
 */
export function planSurge({ rules, summary, history, memory }: SetFacts, verdicts: readonly Verdict[]): PodActions {
  const actions = noActions();
  const { maxSurge, room, mayUpdate } = limitsOf(rules, summary);
  const now: Verdict[] = [];
  const candidates: Verdict[] = [];
  const leaving: Verdict[] = [];
  let surging = summary.standings.excess;
  for (const verdict of verdicts) {
    const { standing, cell, old, work } = verdict;
    const run = cell.known?.decision.run === true;
    // It waits for room: nothing is made there, and what is there stays.
    if (work?.suspended === true) continue;
    if (standing === 'both') {
      if (!verdict.freshAvailable) surging += 1;
      else if (old !== undefined) actions.deletions.push({ pod: old, node: cell.node, because: 'surged' });
    } else if (cell.known === undefined || old === undefined || !mayUpdate(verdict)) continue;
    else if (standing === 'old') (run ? candidates : leaving).push(verdict);
    else if (standing === 'broken') {
      if (!run) actions.deletions.push({ pod: old, node: cell.node, because: 'update' });
      // The node that refused the old one would most likely refuse the new one too.
      else if (!isOver(old) || memory.backoffMs(cell.node) === 0) now.push(verdict);
    }
  }
  const created = [...now, ...candidates.slice(0, Math.max(0, maxSurge - surging))];
  for (const { cell } of room === Infinity ? created : created.slice(0, room))
    actions.creations.push({ node: cell.node, hash: history.hash, template: rules.template, present: true });
  for (const { cell, old } of leaving.slice(0, Math.max(0, summary.serving - summary.counts.desired)))
    if (old !== undefined) actions.deletions.push({ pod: old, node: cell.node, because: 'update' });
  return actions;
}

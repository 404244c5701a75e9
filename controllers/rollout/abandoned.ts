import { matchesLabels } from '../../kube/api/selector.ts';
import type { DrainOwner, Node } from './drain/contract.ts';
import { rolloutsLeftOn } from './maintenance.ts';
import type { Rules } from './rules.ts';

/**
 * Rollouts that have left a cordon, a record or a condition on a Node that is not theirs any more: they were deleted, perhaps while no controller ran; they do
 * not select the Node since its labels or their selector changed; or an older rollout has it now. What a rollout with an invalid spec has begun stays, until
 * its spec is valid.
 * @param alive - all rollouts that are not being deleted, the oldest first
 */
export function abandonedOn(node: Readonly<Node>, alive: readonly Rules[]): DrainOwner[] {
  const found = rolloutsLeftOn(node);
  if (found.length === 0) return found;
  const holder = alive.find(({ problems, selector }) => problems.length === 0 && matchesLabels(selector, node.metadata.labels));
  return found.filter(({ uid }) => {
    const owner = alive.find((one) => one.uid === uid);
    return owner === undefined || (owner.problems.length === 0 && owner !== holder);
  });
}

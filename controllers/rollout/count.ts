import { rfc3339, type Millis } from '../../base/clock.ts';
import type { WakeUp } from '../common/reconcile.ts';
import { fleetState } from '../fleet/fleet-node.ts';
import type { Facts, Placed } from './facts.ts';
import type { Groups } from './grouping.ts';
import { standingOf, type RolloutNode } from './node.ts';
import type { NodeFailure } from './types.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';

/** Where every node stands on its way to `target`. */
export const placedOn = (
  nodes: readonly RolloutNode[],
  target: SpecSource | null,
  { rules, now, gaps }: Pick<Facts, 'rules' | 'now' | 'gaps'>,
): Placed[] => nodes.map((node) => ({ node, standing: standingOf(node, target, rules.nodeDeadlineMs, now, gaps) }));

/** On the way to any configuration, also one that was assigned by hand. */
export const isChanging = (node: RolloutNode): boolean => Boolean(node.agent?.trial) || fleetState(node) === 'pending';

/** Not Ready, or marked as unschedulable. A kubelet that has never reported is not Ready. */
export const isDown = ({ ready, cordoned }: RolloutNode): boolean => ready !== true || cordoned;

/**
 * Nodes that failed: those that the status names, unless they are settled by now, and those that fail now. One that has gone still counts.
 */
export function failuresOf(known: readonly NodeFailure[], groups: Groups, now: Millis): NodeFailure[] {
  const names = new Set(known.map(({ node }) => node));
  const failures = known.filter(({ node }) => groups.at(node)?.standing.at !== 'settled');
  for (const { node, standing } of groups.of('failed'))
    if (standing.at === 'failed' && !names.has(node.node))
      failures.push({ node: node.node, error: standing.error.slice(0, 256), at: rfc3339(now) });
  return failures;
}

/** When the next node that is in flight will have failed. */
export const deadlinesOf = ({ failsAt }: Groups, now: Millis): WakeUp[] =>
  failsAt === Infinity ? [] : [{ requeueAfter: Math.max(0, failsAt - now), why: 'the deadline of a node' }];

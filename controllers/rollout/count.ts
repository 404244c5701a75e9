import { rfc3339, type Millis } from '../../base/clock.ts';

import { fleetState } from '../fleet/fleet-node.ts';
import type { Placed } from './facts.ts';
import type { RolloutNode } from './node.ts';
import { standingOf } from './node.ts';
import type { NodeFailure } from './types.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';

/** Where every node stands on its way to `target`. */
export const placedOn = (nodes: readonly RolloutNode[], target: SpecSource | null, deadlineMs: Millis, now: Millis): Placed[] =>
  nodes.map((node) => ({ node, standing: standingOf(node, target, deadlineMs, now) }));

/** Nodes that are in flight or have failed, or that cannot run pods now, whoever made them so. */
export function unavailableOf(placed: readonly Placed[]): Set<string> {
  const names = new Set<string>();
  for (const { node, standing } of placed)
    if (standing.at === 'in-flight' || standing.at === 'failed' || isDown(node) || isChanging(node)) names.add(node.node);
  return names;
}

/** On the way to any configuration, whoever assigned it. */
const isChanging = (node: RolloutNode): boolean => Boolean(node.agent?.trial) || fleetState(node) === 'pending';

/** Not Ready, or marked as unschedulable. A kubelet that has never reported is not Ready. */
export const isDown = ({ ready, cordoned }: RolloutNode): boolean => ready !== true || cordoned;

/**
 * Nodes that failed: those that the status names, unless they are settled by now, and those that fail now. One that has gone still counts.
 */
export function failuresOf(known: readonly NodeFailure[], placed: readonly Placed[], now: Millis): NodeFailure[] {
  const settled = new Set<string>();
  const failed = new Map(known.map((failure) => [failure.node, failure]));
  for (const { node, standing } of placed) {
    if (standing.at === 'settled') settled.add(node.node);
    if (standing.at === 'failed' && !failed.has(node.node))
      failed.set(node.node, { node: node.node, error: standing.error.slice(0, 256), at: rfc3339(now) });
  }
  return [...failed.values()].filter(({ node }) => !settled.has(node));
}

import { rfc3339, type Millis } from '../../base/clock.ts';
import type { WakeUp } from '../common/reconcile.ts';
import { fleetState } from '../fleet/fleet-node.ts';
import type { Facts, Placed } from './facts.ts';
import { isDrainedBy } from './maintenance.ts';
import { standingOf, type RolloutNode } from './node.ts';
import type { NodeFailure } from './types.ts';
import type { SpecSource } from '../../agent/checkpoint/source.ts';

/** Where every node stands on its way to `target`. */
export const placedOn = (
  nodes: readonly RolloutNode[],
  target: SpecSource | null,
  { rules, now }: Pick<Facts, 'rules' | 'now'>,
): Placed[] => nodes.map((node) => ({ node, standing: standingOf(node, target, rules.nodeDeadlineMs, now) }));

/** The same, where a node that is being drained for it is on its way, and one that could not be drained has failed. */
export function placedWithDrains(nodes: readonly RolloutNode[], target: SpecSource | null, facts: Facts): Placed[] {
  return placedOn(nodes, target, facts).map(({ node, standing }) => {
    if (standing.at !== 'waiting') return { node, standing };
    const drain = facts.drains.get(node.node);
    if (drain?.at === 'failed') return { node, standing: { at: 'failed', error: `drain: ${drain.error}` } };
    if (drain === undefined && !isDrainedBy(node, facts.rules)) return { node, standing };
    const why = drain?.at === 'drained' ? 'it is drained' : `it is drained: ${drain?.why ?? 'it was begun'}`;
    return { node, standing: { at: 'in-flight', why, failsAt: Infinity } };
  });
}

/** Nodes that are in flight or have failed, or that cannot run pods now, for whatever reason. */
export function unavailableOf(placed: readonly Placed[]): Set<string> {
  const names = new Set<string>();
  for (const { node, standing } of placed)
    if (standing.at === 'in-flight' || standing.at === 'failed' || isDown(node) || isChanging(node)) names.add(node.node);
  return names;
}

/** On the way to any configuration, also one that was assigned by hand. */
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

/** When nodes that are in flight will have failed. */
export function deadlinesOf(placed: readonly Placed[], now: Millis): WakeUp[] {
  return placed.flatMap(({ standing }) =>
    standing.at === 'in-flight' && standing.failsAt !== Infinity
      ? [{ requeueAfter: Math.max(0, standing.failsAt - now), why: 'the deadline of a node' }]
      : [],
  );
}

import type { Millis } from '../../../base/clock.ts';
import type { WakeUp } from '../../common/reconcile.ts';
import type { ClusterFacts } from './contract.ts';
import { MAX_RECORDED } from './record.ts';

/** How often a rollout that waits for a place is looked at, in ms, beside changes of nodes. */
const LOOK_AGAIN_MS: Millis = 30_000;

export const placeWakeUp: WakeUp = { requeueAfter: LOOK_AGAIN_MS, why: 'a place in the cluster' };

type Of = ClusterFacts | undefined;

/** Nodes of the cluster that may become unavailable beside those that are; Infinity: it has no budget. Below 0 where more are than may be. */
export function placesOf(cluster: Of, { isBack = false } = {}): number {
  if (cluster === undefined) return Infinity;
  // What goes back leaves nobody a place: what runs now is worse.
  return cluster.most - cluster.unavailable - (isBack ? 0 : cluster.ahead.length);
}

/** Hands out places, in the order in which it is asked. @returns whether this node may be touched */
export function placesFor(cluster: Of, places: number): (node: string) => boolean {
  let left = places;
  return (node) => {
    if (cluster === undefined || cluster.isUnavailable(node)) return true;
    // A place that was taken for it a moment ago is its own, unless more nodes have gone down since than there were places left.
    if (cluster.pending.has(node)) return cluster.unavailable <= cluster.most;
    if (left <= 0) return false;
    left -= 1;
    return true;
  };
}

/** Touches that may be written down beside those that are. */
export const recordsLeft = (cluster: Of): number => (cluster === undefined ? Infinity : Math.max(0, MAX_RECORDED - cluster.pending.size));

/** Why a rollout waits. It names no number that changes with every node. */
export function whyNoPlace({ budget, most, size, unavailable, ahead }: ClusterFacts): string {
  if (most > unavailable && ahead.length > 0) return `the next place in the cluster is for rollout ${ahead[0]}, which has waited longer`;
  const of = budget.endsWith('%') ? `, ${budget} of ${size}` : '';
  return `the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows (${most}${of})`;
}

/**
 * Failed nodes, of this rollout and others, have all the places of the cluster: nothing would go on. A rollout that has one of them stops as if they were as
 * many as its own `maxUnavailable`.
 */
export function isFullOfFailures(cluster: Of, failures: readonly { node: string }[]): boolean {
  if (cluster === undefined) return false;
  const own = failures.filter(({ node }) => cluster.isUnavailable(node)).length;
  return own > 0 && own + cluster.failedElsewhere >= cluster.most;
}

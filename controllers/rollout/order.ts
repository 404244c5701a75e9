import { createHash } from 'node:crypto';
import type { RolloutNode } from './node.ts';

/** In the order in which nodes are touched: by a hash of node and rollout, so that the same nodes are canaries of a rollout each time it is planned. */
export function inOrder(nodes: readonly RolloutNode[], uid: string): RolloutNode[] {
  return nodes
    .map((node) => ({ node, rank: rankOf(node.node, uid) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ node }) => node);
}

const ranks = new Map<string, string>();
/** Of two fleets of the largest size; then it starts again. */
const MAX_RANKS = 20_000;

/** Where a node comes in that order, as text. */
export function rankOf(node: string, uid: string): string {
  const key = `${uid}/${node}`;
  const known = ranks.get(key);
  if (known !== undefined) return known;
  if (ranks.size >= MAX_RANKS) ranks.clear();
  const rank = createHash('sha256').update(key).digest('hex');
  ranks.set(key, rank);
  return rank;
}

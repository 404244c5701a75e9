import type { ProfileConfig } from '../config/config.ts';
import type { NodeLoad } from '../cache/node-state.ts';
import type { Requests } from '../pod/pod-info.ts';
import { wantedOf, usedOf, capacityOf, isExtended } from './node-resources-fit.ts';

type Balanced = ProfileConfig['balanced'];

/** A pod that asks for none of the resources has no say in their balance. */
export function hasBalance(requests: Requests, { resources }: Pick<Balanced, 'resources'>): boolean {
  return resources.some(({ name }) => wantedOf(requests, name) > 0);
}

/**
 * Points for how alike the shares of the resources in use are, 0 to `max`. Counts what is really asked for. `improvement`: half of `max` and more, the more the
 * pod makes them alike; `balance`: how alike they would be with the pod.
 */
export function balancedScore(requests: Requests, node: NodeLoad, { resources, points }: Balanced, max: number): number {
  const before: number[] = [];
  const after: number[] = [];
  for (const { name } of resources) {
    const capacity = capacityOf(node, name);
    const wanted = wantedOf(requests, name);
    if (capacity === 0 || (wanted === 0 && isExtended(name))) continue;
    const used = usedOf(node, name);
    before.push(Math.min(1, used / capacity));
    after.push(Math.min(1, (used + wanted) / capacity));
  }
  const balance = balanceOf(after, max);
  if (points === 'balance') return balance;
  const half = max / 2;
  return Math.trunc(half + Math.trunc((half + balance - balanceOf(before, max)) / 2));
}

function balanceOf(shares: readonly number[], max: number): number {
  return Math.floor((1 - deviation(shares)) * max);
}

function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs((shares[0] ?? 0) - (shares[1] ?? 0)) / 2;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}

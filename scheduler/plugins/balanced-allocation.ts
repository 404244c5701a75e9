import type { ProfileConfig } from '../config/config.ts';
import type { NodeLoad } from '../cache/node-state.ts';
import type { Requests } from '../pod/requests.ts';
import { capacityOf, isExtended, usedOf, wantedOf } from './node-resources-fit.ts';

type Resources = ProfileConfig['balanced']['resources'];

/** A pod that asks for none of the resources has no say in their balance. */
export function hasBalance(requests: Requests, resources: Resources): boolean {
  return resources.some(({ name }) => wantedOf(requests, name) > 0);
}

/** Points for how alike the shares of the resources in use would be, 0 to `max`. Counts what is really asked for. */
export function balancedScore(requests: Requests, node: NodeLoad, resources: Resources, max: number): number {
  const shares: number[] = [];
  for (const { name } of resources) {
    const capacity = capacityOf(node, name);
    const wanted = wantedOf(requests, name);
    if (capacity === 0 || (wanted === 0 && isExtended(name))) continue;
    shares.push(Math.min(1, (usedOf(node, name) + wanted) / capacity));
  }
  return Math.floor((1 - deviation(shares)) * max);
}

function deviation(shares: readonly number[]): number {
  if (shares.length < 2) return 0;
  if (shares.length === 2) return Math.abs((shares[0] ?? 0) - (shares[1] ?? 0)) / 2;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / shares.length);
}

import type { DomainCounts } from '../cache/counts.ts';
import { timesOver } from './arithmetic.ts';
import type { Rejection } from './names.ts';

/** A rule about being spread, and the pods it counts. */
export interface CountedConstraint {
  readonly maxSkew: number;
  readonly minDomains: number;
  /** The pod that is placed is one of those that are counted. */
  readonly selfMatch: 0 | 1;
  readonly view: DomainCounts;
  /** Each node is a domain of its own: then its own pods are counted, eligible or not. */
  readonly isHostname: boolean;
}

/** Pods that would be added to a node or removed from it, as one constraint counts them. */
export type SpreadDelta = (constraint: CountedConstraint) => number;

const skewed: Rejection = {
  plugin: 'PodTopologySpread',
  resolvable: true,
  reasons: ["node(s) didn't match pod topology spread constraints"],
};

const unlabelled: Rejection = {
  plugin: 'PodTopologySpread',
  resolvable: false,
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
};

/** The fewest pods that a rule finds in a domain: 0 where there are fewer domains than it wants. */
export function fewestOf({ view, minDomains }: CountedConstraint, domain = -1, count = 0): number {
  return view.present < minDomains ? 0 : view.fewest(domain, count);
}

/**
 * Whether the pod may be on the node: in no domain of the node would it be too many.
 * @param fewest - by rule, of {@link fewestOf}; left out it is found here, with `delta` in it
 */
export function podTopologySpread(
  constraints: readonly CountedConstraint[],
  slot: number,
  fewest: readonly number[] | undefined,
  delta?: SpreadDelta,
): Rejection | undefined {
  for (const [at, constraint] of constraints.entries()) {
    const { view, maxSkew, selfMatch } = constraint;
    const domain = view.topology.domains[slot] ?? -1;
    if (domain < 0) return unlabelled;
    const change = delta !== undefined && view.isEligible(slot) ? delta(constraint) : 0;
    const here = (view.counts[domain] ?? 0) + change;
    const least = fewest?.[at] ?? fewestOf(constraint, domain, here);
    // A domain without an eligible node has nobody in it who counts.
    const found = view.isPresent(domain) ? here : 0;
    if (found + selfMatch - least > maxSkew) return skewed;
  }
  return undefined;
}

/** How much a rule weighs that has so many domains among the nodes that are compared. */
export function spreadWeight(domains: number): number {
  return Math.log(domains + 2);
}

/** Points of a node as a share, 0 to `max`: the fewer pods the better. @param least - of all nodes that are compared, as `most` */
export function spreadScore(raw: number, least: number, most: number, max: number): number {
  return most === 0 ? max : timesOver(most + least - raw, max, most);
}

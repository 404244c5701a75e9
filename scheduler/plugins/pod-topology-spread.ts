import type { DomainCounts } from '../cache/counts.ts';
import { timesOver } from './arithmetic.ts';
import type { Rejection } from './names.ts';

/** A topology spread constraint, and the pods that it counts. */
export interface CountedConstraint {
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 if the constraint counts the pod to schedule itself. */
  readonly selfMatch: 0 | 1;
  readonly view: DomainCounts;
  /** Each node is its own domain: scoring then counts the node's pods, whether the node is eligible or not. */
  readonly isHostname: boolean;
}

/** Change of a constraint's count by pods that are added to a node or removed from it. */
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

/** The lowest number of counted pods in a domain: 0 if there are fewer domains than `minDomains`. */
export function fewestOf({ view, minDomains }: CountedConstraint, domain = -1, count = 0): number {
  return view.present < minDomains ? 0 : view.fewest(domain, count);
}

/**
 * Rejects a node in a domain where the pod would exceed maxSkew.
 */
export function podTopologySpread(constraints: readonly CountedConstraint[], slot: number, delta?: SpreadDelta): Rejection | undefined {
  for (const constraint of constraints) {
    const { view, maxSkew, selfMatch } = constraint;
    const domain = view.topology.domains[slot] ?? -1;
    if (domain < 0) return unlabelled;
    const change = delta !== undefined && view.isEligible(slot) ? delta(constraint) : 0;
    const here = (view.counts[domain] ?? 0) + change;
    const least = fewestOf(constraint, domain, here);
    // No pod counts in a domain without an eligible node.
    const found = view.isPresent(domain) ? here : 0;
    if (found + selfMatch - least > maxSkew) return skewed;
  }
  return undefined;
}

/** Weight of a constraint with this many domains among the compared nodes. */
export function spreadWeight(domains: number): number {
  return Math.log(domains + 2);
}

/** Normalized points of a node, 0 to `max`: more for fewer pods. @param least - lowest raw points of all compared nodes, as `most` are the highest */
export function spreadScore(raw: number, least: number, most: number, max: number): number {
  return most === 0 ? max : timesOver(most + least - raw, max, most);
}

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

/** Pods that would come to a node or go from it, as one rule counts them. */
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

/** What pods say of each other, as far as it concerns one that is to be placed. All counts are up to date. */
export interface PodNeighbours {
  /** For each label of required terms: pods that match all of these terms. */
  readonly affinity: readonly DomainCounts[];
  /** It is what it asks for itself: the first of its kind may be anywhere. */
  readonly matchesItself: boolean;
  /** For each label of its own required anti-affinity terms: how often these match pods. */
  readonly anti: readonly DomainCounts[];
  /** Required anti-affinity of pods on nodes that means this pod: how often they have it, by its label. */
  readonly existingAnti: readonly DomainCounts[];
  /** Points for all pods in the node's domain together, by the label of the terms. */
  readonly points: readonly DomainCounts[];
}

/** Pods that would come to a node or go from it, as one view counts them. */
type NeighbourDelta = (view: DomainCounts) => number;

const affinity: Rejection = { plugin: 'InterPodAffinity', resolvable: false, reasons: ["node(s) didn't match pod affinity rules"] };
const anti: Rejection = { plugin: 'InterPodAffinity', resolvable: true, reasons: ["node(s) didn't match pod anti-affinity rules"] };
/** Required anti-affinity of others means the pod. */
export const existingAnti: Rejection = {
  plugin: 'InterPodAffinity',
  resolvable: true,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
};

export function interPodAffinity(neighbours: PodNeighbours, slot: number, delta?: NeighbourDelta): Rejection | undefined {
  if (neighbours.affinity.length > 0 && !hasFriends(neighbours, slot, delta)) return affinity;
  if (neighbours.anti.some((view) => isThere(view, slot, delta))) return anti;
  return neighbours.existingAnti.some((view) => isThere(view, slot, delta)) ? existingAnti : undefined;
}

/** Points as a share between the fewest and the most, 0 to `max`; they may be negative before. @param least - of all nodes that are compared, as `most` */
export function neighbourScore(raw: number, least: number, most: number, max: number): number {
  return most === least ? 0 : timesOver(raw - least, max, most - least);
}

function hasFriends({ affinity: views, matchesItself }: PodNeighbours, slot: number, delta: NeighbourDelta | undefined): boolean {
  let all = true;
  for (const view of views) {
    if ((view.topology.domains[slot] ?? -1) < 0) return false;
    if (!isThere(view, slot, delta)) all = false;
  }
  if (all) return true;
  // Nobody anywhere: then the first of its kind has to begin somewhere.
  return matchesItself && views.every((view) => view.total + (delta?.(view) ?? 0) === 0);
}

function isThere(view: DomainCounts, slot: number, delta: NeighbourDelta | undefined): boolean {
  const domain = view.topology.domains[slot] ?? -1;
  return domain >= 0 && (view.counts[domain] ?? 0) + (delta?.(view) ?? 0) > 0;
}

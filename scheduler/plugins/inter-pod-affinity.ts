import type { DomainCounts } from '../cache/counts.ts';
import { timesOver } from './arithmetic.ts';
import type { Rejection } from './names.ts';

/** Counts of affinity and anti-affinity between the pod to schedule and pods on nodes. All are up to date. */
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

import type { DomainCounts } from '../cache/counts.ts';
import { timesOver } from './arithmetic.ts';
import type { Rejection } from './names.ts';

/** Counts of affinity and anti-affinity between the pod to schedule and pods on nodes. All are up to date. */
export interface PodNeighbours {
  /** For each topology key of required terms: pods that match all of these terms. */
  readonly affinity: readonly DomainCounts[];
  /** The pod matches its own required terms: the first such pod may be on any node. */
  readonly matchesItself: boolean;
  /** For each topology key of its own required anti-affinity terms: how often these match pods. */
  readonly anti: readonly DomainCounts[];
  /** Number of required anti-affinity terms of pods on nodes that select this pod, by topology key. */
  readonly existingAnti: readonly DomainCounts[];
  /** Points for all pods in the node's domain together, by topology key. */
  readonly points: readonly DomainCounts[];
}

/** Change of a view's count by pods that are added to a node or removed from it. */
type NeighbourDelta = (view: DomainCounts) => number;

const affinity: Rejection = { plugin: 'InterPodAffinity', resolvable: false, reasons: ["node(s) didn't match pod affinity rules"] };

const anti: Rejection = { plugin: 'InterPodAffinity', resolvable: true, reasons: ["node(s) didn't match pod anti-affinity rules"] };

/** Required anti-affinity of another pod selects the pod. */
export const existingAnti: Rejection = {
  plugin: 'InterPodAffinity',
  resolvable: true,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
};

export function interPodAffinity(neighbours: PodNeighbours, slot: number, delta?: NeighbourDelta): Rejection | undefined {
  if (neighbours.affinity.length > 0 && !matchesAffinity(neighbours, slot, delta)) return affinity;
  if (neighbours.anti.some((view) => isThere(view, slot, delta))) return anti;
  return neighbours.existingAnti.some((view) => isThere(view, slot, delta)) ? existingAnti : undefined;
}

/** Raw points, which may be negative, normalized to 0 to `max`. @param least - lowest raw points of all compared nodes, as `most` are the highest */
export function neighbourScore(raw: number, least: number, most: number, max: number): number {
  return most === least ? 0 : timesOver(raw - least, max, most - least);
}

function matchesAffinity({ affinity: views, matchesItself }: PodNeighbours, slot: number, delta: NeighbourDelta | undefined): boolean {
  let all = true;
  for (const view of views) {
    if ((view.topology.domains[slot] ?? -1) < 0) return false;
    if (!isThere(view, slot, delta)) all = false;
  }
  if (all) return true;
  // No pod on any node matches: a pod that matches its own terms may be the first one.
  return matchesItself && views.every((view) => view.total + (delta?.(view) ?? 0) === 0);
}

function isThere(view: DomainCounts, slot: number, delta: NeighbourDelta | undefined): boolean {
  const domain = view.topology.domains[slot] ?? -1;
  return domain >= 0 && (view.counts[domain] ?? 0) + (delta?.(view) ?? 0) > 0;
}

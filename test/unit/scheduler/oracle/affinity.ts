import { matchesLabels } from '../../../../kube/api/selector.ts';
import type { AffinityTerm } from '../../../../scheduler/pod/selectors.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { labelOf, namespaceLabels, type Place, type World } from './cluster.ts';

/** Whether a term means this pod. */
export function means(world: World, { selector, namespaces, namespaceSelector }: AffinityTerm, { namespace, labels }: PodInfo): boolean {
  const inNamed = namespaces.has(namespace);
  const inSelected = namespaceSelector !== undefined && matchesLabels(namespaceSelector, namespaceLabels(world, namespace));
  return (inNamed || inSelected) && selector !== undefined && matchesLabels(selector, labels);
}

/** Why other pods keep this one from a place. Pods on their way out count as long as they are there. */
export function affinityRejection(world: World, place: Place, pod: PodInfo): { reason: string; resolvable: boolean } | undefined {
  if (!affinityHolds(world, place, pod)) return { reason: "node(s) didn't match pod affinity rules", resolvable: false };
  if (pod.terms.requiredAnti.some((term) => neighbours(world, place, term.topologyKey).some((other) => means(world, term, other))))
    return { reason: "node(s) didn't match pod anti-affinity rules", resolvable: true };
  if (othersObject(world, place, pod)) return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", resolvable: true };
  return undefined;
}

/** Pods in the same domain as a place; none where the place has not the label. */
function neighbours(world: World, place: Place, topologyKey: string): PodInfo[] {
  const value = labelOf(place, topologyKey);
  return value === undefined ? [] : world.places.filter((other) => labelOf(other, topologyKey) === value).flatMap(({ pods }) => pods);
}

/** Only pods that all terms mean count, for each of them. */
function affinityHolds(world: World, place: Place, pod: PodInfo): boolean {
  const terms = pod.terms.required;
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => labelOf(place, topologyKey) === undefined)) return false;
  const isFriend = (other: PodInfo): boolean => terms.every((term) => means(world, term, other));
  if (terms.every(({ topologyKey }) => neighbours(world, place, topologyKey).some(isFriend))) return true;
  // The first of a group that wants to be together has nobody to go to: it may begin anywhere. A friend outside of all domains is nobody to go to either.
  const anywhere = world.places.some(
    (other) => other.pods.some(isFriend) && terms.some((term) => labelOf(other, term.topologyKey) !== undefined),
  );
  return !anywhere && isFriend(pod);
}

function othersObject(world: World, place: Place, pod: PodInfo): boolean {
  return world.places.some((elsewhere) =>
    elsewhere.pods.some((other) =>
      other.terms.requiredAnti.some((term) => {
        const theirs = labelOf(elsewhere, term.topologyKey);
        return theirs !== undefined && theirs === labelOf(place, term.topologyKey) && means(world, term, pod);
      }),
    ),
  );
}

/** How much other pods draw this one to a place, before it is compared with other places. */
export function attraction(world: World, place: Place, pod: PodInfo, { hardPodAffinityWeight }: ProfileConfig['interPod']): number {
  let sum = 0;
  for (const elsewhere of world.places) {
    const shares = (topologyKey: string): boolean => {
      const here = labelOf(place, topologyKey);
      return here !== undefined && here === labelOf(elsewhere, topologyKey);
    };
    for (const other of elsewhere.pods) {
      for (const { term, weight } of pod.terms.preferred) if (shares(term.topologyKey) && means(world, term, other)) sum += weight;
      for (const { term, weight } of pod.terms.preferredAnti) if (shares(term.topologyKey) && means(world, term, other)) sum -= weight;
      for (const { term, weight } of other.terms.preferred) if (shares(term.topologyKey) && means(world, term, pod)) sum += weight;
      for (const { term, weight } of other.terms.preferredAnti) if (shares(term.topologyKey) && means(world, term, pod)) sum -= weight;
      for (const term of other.terms.required) if (shares(term.topologyKey) && means(world, term, pod)) sum += hardPodAffinityWeight;
    }
  }
  return sum;
}

/** 100 for the places that draw most, 0 for those that draw least, and for all when they draw alike. */
export function interPodScores(
  world: World,
  feasible: readonly Place[],
  pod: PodInfo,
  { interPod }: Pick<ProfileConfig, 'interPod'>,
): Map<string, number> {
  const wishes = pod.terms.preferred.length + pod.terms.preferredAnti.length;
  if (interPod.ignorePreferredTermsOfExistingPods && wishes === 0) return new Map(feasible.map(({ name }) => [name, 0]));
  const raw = new Map(feasible.map((place) => [place.name, attraction(world, place, pod, interPod)]));
  const least = Math.min(...raw.values());
  const most = Math.max(...raw.values());
  return new Map([...raw].map(([name, value]) => [name, most === least ? 0 : Math.floor((100 * (value - least)) / (most - least))]));
}

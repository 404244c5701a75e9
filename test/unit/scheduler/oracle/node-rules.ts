import { firstUntolerated, matchesNodeAffinity, matchesNodeSelector, toleratesTaint } from '../../../../kube/api/placement.ts';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { NodeSelector, Taint } from 'kubernetes-types/core/v1.js';
import type { Place } from './cluster.ts';

/** What a pod asks of the node itself. */
export function isChosenByPod(place: Place, { pod }: PodInfo): boolean {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return matchesNodeSelector(pod.spec?.nodeSelector, place.labels) === undefined && isSelected(place, required);
}

export function isSelected({ name, labels }: Place, selector: NodeSelector | undefined): boolean {
  return matchesNodeAffinity(selector, { name, labels });
}

/** The first taint that keeps a pod away. */
export function refusingTaint({ node }: Place, { pod }: PodInfo): Taint | undefined {
  return firstUntolerated(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']);
}

export function isAllowedByTaints(place: Place, pod: PodInfo): boolean {
  return refusingTaint(place, pod) === undefined;
}

export function isKeptByCordon({ node }: Place, { pod }: PodInfo): boolean {
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  return node.spec?.unschedulable === true && !(pod.spec?.tolerations ?? []).some((toleration) => toleratesTaint(toleration, cordon));
}

/**
 * The nodes that a pod names, when every term of its affinity names some: no other node need be looked at.
 * @returns undefined when some term leaves it open; empty when no term can hold
 */
export function namedNodes({ pod }: PodInfo): ReadonlySet<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const lists = (matchFields ?? [])
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values }) => values ?? []);
    const [first, ...others] = lists;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((list) => list.includes(name))) names.add(name);
  }
  return names;
}

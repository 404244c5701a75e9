import type { Affinity, PodAffinityTerm } from 'kubernetes-types/core/v1.js';
import { matchesLabels, type LabelSelector } from '../../kube/api/selector.ts';
import { compactKey, readSelector } from './read-selector.ts';
import { MAX_RULE_PARTS, MAX_TERMS, partsOfTerm } from './pod-limits.ts';

/** Which pods are meant, and what they have in common with the node in question. */
export interface AffinityTerm {
  /** The same text for the same pods and key: whoever counts for one counts for all that say the same. */
  readonly id: string;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Namespaces by their labels, besides those named. Undefined: none. */
  readonly namespaceSelector: LabelSelector | undefined;
  /** Undefined matches no pod. */
  readonly selector: LabelSelector | undefined;
}

export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

/** What a pod says of other pods, read. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
  readonly preferredAnti: readonly WeightedTerm[];
}

export const noTerms: AffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] };

/** Labels of a namespace, for terms that select by them. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

/** Of a pod with more terms than one may have ({@link MAX_TERMS}) the first ones, those that keep others away before all others. */
export function affinityTermsOf({ podAffinity, podAntiAffinity }: Affinity, namespace: string): AffinityTerms {
  let [count, parts] = [0, 0];
  const isWithin = (term: PodAffinityTerm): boolean => {
    count += 1;
    parts += partsOfTerm(term);
    return count <= MAX_TERMS && parts <= MAX_RULE_PARTS;
  };
  const read = (terms: PodAffinityTerm[] | undefined): AffinityTerm[] =>
    (terms ?? []).filter(isWithin).map((term) => termOf(term, namespace));
  const weighted = (terms: { weight: number; podAffinityTerm: PodAffinityTerm }[] | undefined): WeightedTerm[] =>
    (terms ?? [])
      .filter(({ podAffinityTerm }) => isWithin(podAffinityTerm))
      .map(({ weight, podAffinityTerm }) => ({ weight, term: termOf(podAffinityTerm, namespace) }));
  // In this order they count.
  const requiredAnti = read(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const required = read(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const preferredAnti = weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  const preferred = weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  return { required, requiredAnti, preferred, preferredAnti };
}

/** Whether a term means a pod with these labels in this namespace. */
export function termMatches(
  { namespaces, namespaceSelector, selector }: AffinityTerm,
  namespace: string,
  labels: Readonly<Record<string, string>> | undefined,
  labelsOf: NamespaceLabels,
): boolean {
  if (selector === undefined) return false;
  if (!namespaces.has(namespace) && (namespaceSelector === undefined || !matchesLabels(namespaceSelector, labelsOf(namespace) ?? {})))
    return false;
  return matchesLabels(selector, labels);
}

function termOf({ labelSelector, namespaces, namespaceSelector, topologyKey }: PodAffinityTerm, own: string): AffinityTerm {
  const named = namespaces?.length ? namespaces : namespaceSelector ? [] : [own];
  const sorted = [...new Set(named)].toSorted();
  return {
    id: compactKey(JSON.stringify([topologyKey, sorted, namespaceSelector ?? null, labelSelector ?? null])),
    topologyKey,
    namespaces: new Set(sorted),
    namespaceSelector: namespaceSelector ? readSelector(namespaceSelector) : undefined,
    selector: labelSelector ? readSelector(labelSelector) : undefined,
  };
}

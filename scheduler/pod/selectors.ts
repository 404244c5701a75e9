import type { Affinity, PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { type LabelSelector, type LabelSelectorObject, labelSelectorOf, matchesLabels } from '../../kube/api/selector.ts';
import { MAX_RULE_PARTS, MAX_TERMS, partsOfTerm } from './pod-limits.ts';
import { hash } from 'node:crypto';

/** The parsed selector of an object. An invalid one, which no API server accepts, selects nothing: a single malformed object must not stop all others. */
export function readSelector(object: LabelSelectorObject): LabelSelector | undefined {
  try {
    return labelSelectorOf(object);
  } catch {
    return undefined;
  }
}

/** The same text for selectors with the same requirements in the same order; undefined has its own. */
export function selectorText(selector: LabelSelector | undefined): string {
  return JSON.stringify(selector ?? null, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

/** Keys up to this length are kept as they are. */
const MAX_KEY = 1_024;

/** Replaces a long key by its hash: keys outlive the object that they were made from, which may have a megabyte. */
export function compactKey(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${hash('sha256', text)}`;
}

/** The pods that a term selects, and the topology key by which their nodes are compared. */
export interface AffinityTerm {
  /** The same text for the same pods and topology key: equal terms share one count. */
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

/** The parsed affinity and anti-affinity terms of a pod. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
  readonly preferredAnti: readonly WeightedTerm[];
}

export const noTerms: AffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] };

/** Labels of a namespace, for terms that select by them. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

/** For a pod with too many terms ({@link MAX_TERMS}) only the first ones, with required anti-affinity before all others. */
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
  // In this order they count towards the limits.
  const requiredAnti = read(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const required = read(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const preferredAnti = weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  const preferred = weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  return { required, requiredAnti, preferred, preferredAnti };
}

/** Whether a term selects a pod with these labels in this namespace. */
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

/** A parsed topology spread constraint. */
export interface SpreadConstraint {
  /** The same text for the same constraint. */
  readonly id: string;
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** With fewer domains than this, the global minimum counts as 0. */
  readonly minDomains: number;
  /** Undefined counts no pod. */
  readonly selector: LabelSelector | undefined;
  /** Whether nodes that the pod's node selector and affinity exclude are excluded here as well. */
  readonly honorsAffinity: boolean;
  /** Whether nodes with taints that the pod does not tolerate are excluded. */
  readonly honorsTaints: boolean;
}

interface SpreadConstraints {
  /** `DoNotSchedule`. */
  readonly hard: readonly SpreadConstraint[];
  /** `ScheduleAnyway`. */
  readonly soft: readonly SpreadConstraint[];
}

const noSpread: SpreadConstraints = { hard: [], soft: [] };

/** @param labels - of the pod: constraints may take values of some of them into their selector (`matchLabelKeys`) */
export function spreadConstraintsOf(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): SpreadConstraints {
  if (!constraints?.length) return noSpread;
  const read = (when: string): SpreadConstraint[] =>
    constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when).map((constraint) => constraintOf(constraint, labels ?? {}));
  return { hard: read('DoNotSchedule'), soft: read('ScheduleAnyway') };
}

function constraintOf(constraint: TopologySpreadConstraint, labels: Readonly<Record<string, string>>): SpreadConstraint {
  const { topologyKey, maxSkew, minDomains, labelSelector, matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const keys = (matchLabelKeys ?? []).filter((key) => Object.hasOwn(labels, key)).toSorted();
  const own = keys.map((key) => ({ key, operator: 'in' as const, values: [labels[key] ?? ''] }));
  const selector = labelSelector ? readSelector(labelSelector) : undefined;
  const taken = own.map(({ key, values }) => [key, ...values]);
  return {
    id: JSON.stringify([
      topologyKey,
      maxSkew,
      minDomains ?? 1,
      labelSelector ?? null,
      taken,
      nodeAffinityPolicy ?? 'Honor',
      nodeTaintsPolicy ?? 'Ignore',
    ]),
    topologyKey,
    maxSkew,
    minDomains: minDomains ?? 1,
    selector: selector && [...selector, ...own],
    honorsAffinity: nodeAffinityPolicy !== 'Ignore',
    honorsTaints: nodeTaintsPolicy === 'Honor',
  };
}

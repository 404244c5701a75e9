import type { Affinity, PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { type LabelSelector, type LabelSelectorObject, labelSelectorOf, matchesLabels } from '../../kube/api/selector.ts';
import { MAX_RULE_PARTS, MAX_TERMS, partsOfTerm } from './pod-limits.ts';
import { hash } from 'node:crypto';

/** The selector of an object. One that no API server takes selects nothing: a single odd object must not stop all others. */
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

/** The same short text for the same long one: keys outlive the object that they were made from, which may be of a megabyte. */
export function compactKey(text: string): string {
  return text.length <= MAX_KEY ? text : `sha256:${hash('sha256', text)}`;
}

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

/** One rule of a pod about being spread, read. */
export interface SpreadConstraint {
  /** The same text for the same rule. */
  readonly id: string;
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** Domains there must be before the emptiest counts. */
  readonly minDomains: number;
  /** Undefined counts no pod. */
  readonly selector: LabelSelector | undefined;
  /** Whether nodes that the pod's own node selector and affinity leave out are left out here as well. */
  readonly honorsAffinity: boolean;
  /** Whether nodes with taints that the pod does not tolerate are left out. */
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

import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { isOneOf } from './selector.ts';

/*
 * Which nodes a pod selects, and which taints it tolerates. Controllers and the scheduler check this for every node and many pods at each pass, so a match
 * allocates nothing.
 */

type Labels = Readonly<Record<string, string>> | undefined;

/** The parts of a node that affinity reads, all from its metadata. */
export interface SelectableNode {
  /** Without it fields are not checked, and a term of fields alone matches: kube-scheduler evaluates the affinity of volumes so. */
  readonly name?: string;
  readonly labels?: Labels;
}

/** A label of a node selector that a node lacks, or has with another value. */
export interface SelectorMismatch {
  key: string;
  wanted: string;
  found: string | undefined;
}

const none: readonly string[] = [];
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_KEY =
  /^(?:(?=.{1,253}\/)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const DIGITS = /^[0-9]+$/;
const MAX_INT64 = 2n ** 63n - 1n;

/** Requirements are validated once: cached objects never change, and the same few requirements are checked against every node. */
const seen = new WeakMap<NodeSelectorRequirement, boolean>();

/**
 * `spec.nodeSelector` of a pod: all labels must be present with these values.
 * @returns the first mismatch, in the order of the selector; undefined when the node matches, as every node does without a selector
 */
export function matchesNodeSelector(selector: Readonly<Record<string, string>> | undefined, labels: Labels): SelectorMismatch | undefined {
  for (const key in selector) {
    if (!Object.hasOwn(selector, key)) continue;
    const wanted = selector[key] ?? '';
    const found = labelOf(labels, key);
    if (found !== wanted) return { key, wanted, found };
  }
  return undefined;
}

/**
 * `requiredDuringSchedulingIgnoredDuringExecution` of a pod's node affinity: one term must match, with all its expressions and fields. An empty term matches
 * nothing, nor does an empty list of terms. A term with an invalid requirement matches nothing, the other terms count.
 * @param required - must never change, like cached objects; undefined matches every node
 */
export function matchesNodeAffinity(required: Readonly<NodeSelector> | null | undefined, node: SelectableNode): boolean {
  if (required === undefined || required === null) return true;
  for (const term of required.nodeSelectorTerms ?? []) if (matchesTerm(term, node)) return true;
  return false;
}

function matchesTerm({ matchExpressions, matchFields }: NodeSelectorTerm, node: SelectableNode): boolean {
  const expressions = matchExpressions?.length ?? 0;
  const fields = matchFields?.length ?? 0;
  if (expressions + fields === 0) return false;
  if (matchExpressions) for (const expression of matchExpressions) if (!expressionHolds(expression, node.labels)) return false;
  const { name } = node;
  if (matchFields && name !== undefined) for (const field of matchFields) if (!fieldHolds(field, name)) return false;
  return true;
}

function expressionHolds(requirement: NodeSelectorRequirement, labels: Labels): boolean {
  const { operator } = requirement;
  const values = requirement.values ?? none;
  const found = labelOf(labels, requirement.key);
  switch (operator) {
    case 'In':
      return found !== undefined && isOneOf(values, found) && isReadable(requirement);
    case 'NotIn':
      return (found === undefined || !isOneOf(values, found)) && isReadable(requirement);
    case 'Exists':
      return found !== undefined && isReadable(requirement);
    case 'DoesNotExist':
      return found === undefined && isReadable(requirement);
    case 'Gt':
    case 'Lt': {
      if (!isReadable(requirement)) return false;
      const have = found === undefined ? undefined : labelInteger(found);
      const bound = labelInteger(values[0] ?? '');
      if (have === undefined || bound === undefined) return false;
      return operator === 'Gt' ? have > bound : have < bound;
    }
    default:
      return false;
  }
}

/** The only field to select by is the name, with exactly one value. */
function fieldHolds({ key, operator, values }: NodeSelectorRequirement, name: string): boolean {
  if (key !== 'metadata.name' || values?.length !== 1) return false;
  if (operator === 'In') return values[0] === name;
  return operator === 'NotIn' && values[0] !== name;
}

function isReadable(requirement: NodeSelectorRequirement): boolean {
  const known = seen.get(requirement);
  if (known !== undefined) return known;
  const readable = read(requirement);
  seen.set(requirement, readable);
  return readable;
}

function read(requirement: NodeSelectorRequirement): boolean {
  const { key, operator } = requirement;
  const values = requirement.values ?? none;
  if (!LABEL_KEY.test(key) || !values.every((value) => LABEL_VALUE.test(value))) return false;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    case 'Gt':
    case 'Lt':
      return values.length === 1;
    default:
      return false;
  }
}

/** The 64-bit integer that `Gt` and `Lt` compare. Labels have no signs, so it is never negative. */
export function labelInteger(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_INT64 ? undefined : value;
}

function labelOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Effects that keep a new pod from a node. */
export const refusingEffects = ['NoSchedule', 'NoExecute'] as const;

/**
 * Whether a pod with this toleration tolerates this taint. `Exists` compares the key alone, and without a key tolerates all; `Equal`, the default, compares
 * the value too; `Gt` and `Lt` tolerate a taint whose value is a greater or a smaller integer than the toleration's (API servers accept these two with the
 * gate TaintTolerationComparisonOperators, alpha in 1.35). Without an effect it applies to all effects. `tolerationSeconds` is ignored.
 * @see https://kep.k8s.io/5471
 */
export function toleratesTaint(toleration: Readonly<Toleration>, taint: Readonly<Taint>): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return !toleration.key || toleration.key === taint.key;
    case 'Equal':
      return toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
      return toleration.key === taint.key && compareIntegers(taint.value, toleration.value) === 1;
    case 'Lt':
      return toleration.key === taint.key && compareIntegers(taint.value, toleration.value) === -1;
    default:
      return false;
  }
}

/** @returns undefined unless both are integers of 64 bits in their shortest form: `007` is not */
function compareIntegers(a: string | undefined, b: string | undefined): -1 | 0 | 1 | undefined {
  const [one, other] = [taintInteger(a), taintInteger(b)];
  if (one === undefined || other === undefined) return undefined;
  return one > other ? 1 : one < other ? -1 : 0;
}

function taintInteger(text: string | undefined): bigint | undefined {
  // No such integer has more than 20 characters; what a server stores may be longer.
  if (text === undefined || text.length > 20 || !/^(0|-?[1-9][0-9]*)$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

/** The first taint, in the node's order, that has one of these effects and is not tolerated. */
export function firstUntolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined {
  if (taints === undefined) return undefined;
  for (const taint of taints) if (effects.includes(taint.effect) && !isTolerated(taint, tolerations)) return taint;
  return undefined;
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  if (tolerations) for (const toleration of tolerations) if (toleratesTaint(toleration, taint)) return true;
  return false;
}

/**
 * Merges both lists. An added toleration replaces own tolerations of the same key, effect, operator and value, whatever their duration; otherwise it is
 * appended. Duplicates among the own tolerations stay.
 */
export function mergeTolerations(own: readonly Toleration[] | undefined, added: readonly Toleration[]): Toleration[] {
  const merged = [...(own ?? [])];
  for (const one of added) {
    let replaced = false;
    for (const [at, other] of merged.entries()) {
      if (!hasSameCondition(one, other)) continue;
      merged[at] = one;
      replaced = true;
    }
    if (!replaced) merged.push(one);
  }
  return merged;
}

function hasSameCondition(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    (a.operator || 'Equal') === (b.operator || 'Equal') &&
    (a.value ?? '') === (b.value ?? '')
  );
}

import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { isOneOf } from './selector.ts';

/*
 * Which nodes a pod asks for. Controllers and the scheduler ask this of every node for many pods at each look, so what matches allocates nothing.
 */

type Labels = Readonly<Record<string, string>> | undefined;

/** What affinity looks at of a node: its metadata will do. */
export interface SelectableNode {
  readonly name?: string;
  readonly labels?: Labels;
}

/** A label of a node selector that a node has not, or has otherwise. */
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
const LARGEST = (1n << 63n) - 1n;

/** Requirements are looked at once: objects of a cache never change, and the same few requirements meet every node. */
const seen = new WeakMap<NodeSelectorRequirement, boolean>();

/**
 * `spec.nodeSelector` of a pod: all labels must be there as written.
 * @returns the first that is not, in the order of the selector; undefined when the node matches, as every node matches no selector
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
 * `requiredDuringSchedulingIgnoredDuringExecution` of a pod's node affinity: one term must match, and of it every expression and field.
 * An empty term matches nothing, nor does an empty list of terms. A term with a requirement that Kubernetes cannot read matches nothing, the others count.
 * @param required - taken as one that never changes, as objects of a cache are; undefined matches every node
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
  if (matchFields) for (const field of matchFields) if (!fieldHolds(field, node.name)) return false;
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
      const have = found === undefined ? undefined : integer(found);
      const bound = integer(values[0] ?? '');
      if (have === undefined || bound === undefined) return false;
      return operator === 'Gt' ? have > bound : have < bound;
    }
    default:
      return false;
  }
}

/** The one field there is to select by is the name, and by one value at a time. */
function fieldHolds({ key, operator, values }: NodeSelectorRequirement, name: string | undefined): boolean {
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

/** Labels have no signs, so there are no negative ones. */
function integer(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text);
  return value > LARGEST ? undefined : value;
}

function labelOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

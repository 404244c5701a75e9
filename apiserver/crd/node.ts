import { isJsonObject, ownField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';

/** One node of an `openAPIV3Schema`, as its author wrote it. */
export type Node = JsonObject;

export const EMBEDDED = 'x-kubernetes-embedded-resource';
export const INT_OR_STRING = 'x-kubernetes-int-or-string';
export const PRESERVES = 'x-kubernetes-preserve-unknown-fields';
export const LIST_TYPE = 'x-kubernetes-list-type';
export const LIST_KEYS = 'x-kubernetes-list-map-keys';

export function nodeOf(value: unknown): Node | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function propertiesOf(node: Node): [name: string, node: Node][] {
  return Object.entries(nodeOf(node['properties']) ?? {}).flatMap(([name, value]) => (isJsonObject(value) ? [[name, value]] : []));
}

/** The schema of a field by its name; undefined where the schema does not know it. */
export function fieldNode(node: Node, name: string): Node | undefined {
  const known = nodeOf(ownField(nodeOf(node['properties']) ?? {}, name));
  return known ?? nodeOf(node['additionalProperties']);
}

export function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

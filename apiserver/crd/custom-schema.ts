import { anything, ref } from '../openapi/schema.ts';
import type { Schema } from '../openapi/schema.ts';
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

/** The schema of a field by its name; undefined for an unknown field. */
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

// Schemas that document custom resources; value-errors.ts validates these by the definition itself.
const descriptions = new WeakSet<Schema>();

/** A schema for OpenAPI only: value-errors.ts checks the objects. */
export function describing(schema: Schema): Schema {
  descriptions.add(schema);
  return schema;
}

/** Whether decoding skips this schema. */
export function describesOnly(schema: Schema): boolean {
  return descriptions.has(schema);
}

/** The schema of a custom resource for OpenAPI documents, which kubectl reads. */
export function customSchema(root: Node): Schema {
  const described = schemaOf(root);
  return describing({
    ...described,
    type: 'object',
    fields: { ...described.fields, metadata: ref('ObjectMeta', 'Standard object metadata.') },
  });
}

function schemaOf(node: Node): Schema {
  const description = textOf(node['description']);
  if (node[INT_OR_STRING] === true) return { type: 'intOrText', description };
  switch (node['type']) {
    case 'array':
      return { type: 'array', description, items: schemaOf(nodeOf(node['items']) ?? {}) };
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean': {
      const format = textOf(node['format']);
      return { type: node['type'], description, ...(format === '' ? {} : { format }) };
    }
    default:
      return objectOf(node, description);
  }
}

function objectOf(node: Node, description: string): Schema {
  const values = nodeOf(node['additionalProperties']);
  if (values !== undefined) return { type: 'object', description, values: schemaOf(values) };
  const fields = propertiesOf(node).map(([name, field]): [string, Schema] => [name, schemaOf(field)]);
  // If unknown fields are preserved, the document lists no fields: otherwise clients would reject the unknown ones.
  if (fields.length === 0 || node[PRESERVES] === true) return anything(description);
  const required = textsOf(node['required']);
  return { type: 'object', description, fields: Object.fromEntries(fields), ...(required.length === 0 ? {} : { required }) };
}

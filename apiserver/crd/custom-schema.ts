import { anything, ref } from '../openapi/schema.ts';
import type { Schema } from '../openapi/schema.ts';
import { INT_OR_STRING, nodeOf, PRESERVES, propertiesOf, textOf, textsOf } from './node.ts';
import type { Node } from './node.ts';

// Custom resources are held to what their authors wrote, with its own words; what is made of that here only describes them.
const descriptions = new WeakSet<Schema>();

/** A schema that says what there is, and leaves it to others to hold objects to it. */
export function describing(schema: Schema): Schema {
  descriptions.add(schema);
  return schema;
}

/** Whether bodies are taken as they come, as far as this schema goes. */
export function describesOnly(schema: Schema): boolean {
  return descriptions.has(schema);
}

/** What OpenAPI documents, and with them kubectl, say of a custom resource. */
export function customSchema(root: Node): Schema {
  const described = schemaOf(root);
  return describing({
    ...described,
    type: 'object',
    fields: { ...described.fields, metadata: ref('ObjectMeta', 'Name, labels and the like.') },
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
  // Where unknown fields are kept, a document that listed the known ones would make clients refuse the others.
  if (fields.length === 0 || node[PRESERVES] === true) return anything(description);
  const required = textsOf(node['required']);
  return { type: 'object', description, fields: Object.fromEntries(fields), ...(required.length === 0 ? {} : { required }) };
}

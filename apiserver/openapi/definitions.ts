import { apiVersion } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { list, object, text, textMap, time, int64, flag, anything } from './schema.ts';
import type { Schema } from './schema.ts';
import type { Json } from '../../kube/api/json.ts';

/** An object in an OpenAPI document. */
export type JsonFields = { [key: string]: Json };

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const ownerReference = object(
  'Who owns the object.',
  {
    apiVersion: text('Version of the owner.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
    controller: flag('Whether this owner is the managing controller.'),
    blockOwnerDeletion: flag('The owner waits for it when it is deleted in the foreground.'),
  },
  ['apiVersion', 'kind', 'name', 'uid'],
);

/** Definitions that all kinds share, by the name in `ref`. */
const shared: Readonly<Record<string, Schema>> = {
  ObjectMeta: object('Metadata of every object.', {
    annotations: textMap('Non-identifying metadata.'),
    creationTimestamp: time('When it was created.'),
    deletionGracePeriodSeconds: int64('Grace period of the deletion, in seconds.'),
    deletionTimestamp: time('When the object will be deleted.'),
    finalizers: list('Finalizers that must be removed before the object is deleted.', text('A finalizer.'), { as: 'set' }),
    generateName: text('Prefix of a name that the server generates.'),
    generation: int64('Number that changes with the desired state.'),
    labels: textMap('Labels, by which selectors find the object.'),
    managedFields: list('Which manager set which field.', anything('A manager and its fields.')),
    name: text('Its name.'),
    namespace: text('Namespace of the object.'),
    ownerReferences: list('Owners of the object.', ownerReference, { by: 'uid' }),
    resourceVersion: text('Version of this state.'),
    selfLink: text('Deprecated, not used.'),
    uid: text('Unique over time: an object created later under the same name has another.'),
  }),
};

/** Path of definitions in a document: `#/definitions/` in version 2, `#/components/schemas/` in version 3. */
export type RefRoot = '#/definitions/' | '#/components/schemas/';

/** Name of a definition as on a real server: `io.k8s.api.core.v1.Node`. */
function definitionName({ kind, at }: ServedKind): string {
  const group = at.group === '' ? 'core' : (at.group.split('.')[0] ?? at.group);
  return `io.k8s.api.${group}.${at.version}.${kind.kind}`;
}

/** All definitions that these kinds need. */
export function definitions(kinds: readonly ServedKind[], root: RefRoot): JsonFields {
  const found: JsonFields = {};
  for (const [name, schema] of Object.entries(shared)) found[`${META}.${name}`] = schemaJson(schema, root);
  for (const served of kinds) {
    addNamed(served.at.schema ?? served.kind.schema, root, found);
    const name = definitionName(served);
    found[name] = { ...kindJson(served, root), 'x-kubernetes-group-version-kind': [gvk(served, '')] };
    found[`${name}List`] = listJson(served, root);
  }
  return found;
}

/** Adds named objects, each once. */
function addNamed(schema: Schema, root: RefRoot, found: JsonFields): void {
  const { name, fields = {}, items, values } = schema;
  if (name !== undefined) {
    const key = namedDefinition(name);
    if (Object.hasOwn(found, key)) return;
    // Set before the fields are added, since these may refer back to it.
    found[key] = {};
    found[key] = objectJson(schema, root);
  }
  for (const inner of [...Object.values(fields), items, values]) if (inner !== undefined) addNamed(inner, root, found);
}

function namedDefinition(name: string): string {
  return name.startsWith('meta.') ? `io.k8s.apimachinery.pkg.apis.${name}` : `io.k8s.api.${name}`;
}

export function gvk({ kind, at }: ServedKind, suffix: '' | 'List'): JsonFields {
  return { group: at.group, version: at.version, kind: `${kind.kind}${suffix}` };
}

/** An object, not a list and not a plain value. */
export function isFields(json: Json | undefined): json is JsonFields {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function kindJson(served: ServedKind, root: RefRoot): JsonFields {
  const schema = served.at.schema ?? served.kind.schema;
  const typeMeta = { apiVersion: text(`Version: ${apiVersion(served.at)}.`), kind: text(`Kind: ${served.kind.kind}.`) };
  return schemaJson({ ...schema, fields: { ...typeMeta, ...schema.fields } }, root);
}

function listJson(served: ServedKind, root: RefRoot): JsonFields {
  const json = schemaJson(
    object(
      `List of ${served.kind.kind} objects.`,
      {
        apiVersion: text('Version of the list.'),
        kind: text('Kind of the list.'),
        metadata: anything('Resource version, and the continue token.'),
      },
      ['items'],
    ),
    root,
  );
  const items: Json = { type: 'array', description: 'The objects.', items: { $ref: `${root}${definitionName(served)}` } };
  const { properties } = json;
  return {
    ...json,
    properties: { ...(isFields(properties) ? properties : {}), items },
    'x-kubernetes-group-version-kind': [gvk(served, 'List')],
  };
}

function schemaJson(schema: Schema, root: RefRoot): JsonFields {
  const { description, name } = schema;
  if (name !== undefined) return reference(`${root}${namedDefinition(name)}`, description, root);
  switch (schema.type) {
    case 'ref':
      return reference(`${root}${META}.${schema.ref}`, description, root);
    case 'quantity':
      return { type: 'string', description };
    case 'intOrText':
      return { type: 'string', format: 'int-or-string', description };
    case 'array':
      return { type: 'array', description, items: schema.items ? schemaJson(schema.items, root) : {}, ...mergeJson(schema) };
    case 'object':
      return objectJson(schema, root);
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return { type: schema.type, description, ...(schema.format ? { format: schema.format } : {}) };
  }
}

// Version 3 does not allow a description beside a reference.
function reference($ref: string, description: string, root: RefRoot): JsonFields {
  return root === '#/definitions/' ? { $ref, description } : { allOf: [{ $ref }], description };
}

function objectJson({ description, fields, values, required }: Schema, root: RefRoot): JsonFields {
  const properties: JsonFields = {};
  for (const [name, field] of Object.entries(fields ?? {})) properties[name] = schemaJson(field, root);
  return {
    type: 'object',
    description,
    ...(fields ? { properties } : {}),
    ...(values ? { additionalProperties: schemaJson(values, root) } : {}),
    ...(required ? { required: [...required] } : {}),
    ...(fields || values ? {} : { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

function mergeJson({ merge }: Schema): JsonFields {
  if (merge === undefined) return {};
  if ('as' in merge) return { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' };
  return {
    'x-kubernetes-list-map-keys': [merge.by],
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-patch-merge-key': merge.by,
    'x-kubernetes-patch-strategy': 'merge',
  };
}

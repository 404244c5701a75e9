import { isJsonObject, setField } from '../../kube/api/json.ts';
import { describesOnly } from '../crd/custom-schema.ts';
import { apiVersion } from '../kinds/kind.ts';
import { badRequest } from '../errors.ts';
import { canonicalQuantity, quantity } from '../../kube/api/quantity.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import type { KubeObject, ObjectMeta } from '../../kube/api/object.ts';
import type { ResourceRequest } from '../http/message.ts';
import type { ServedKind } from '../kinds/kind.ts';
import type { Schema } from '../openapi/schema.ts';

type Zeros = 'written' | 'left out';

/**
 * An object from a request, in its stored form: without apiVersion and kind, with metadata of the right types.
 * @param zeros - see {@link decodeBySchema}
 * @throws StatusError 400 if its kind, name or namespace does not match the path
 */
export function incomingObject(
  body: JsonObject,
  served: ServedKind,
  request: Pick<ResourceRequest, 'namespace' | 'name'>,
  zeros?: Zeros,
): KubeObject {
  const { apiVersion: version = apiVersion(served.at), kind = served.kind.kind, metadata, ...rest } = body;
  if (version !== apiVersion(served.at) || kind !== served.kind.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(version)} cannot be handled as a ${served.kind.kind}: ` +
        `the path is of ${apiVersion(served.at)}, kind ${served.kind.kind}`,
    );
  }
  const object = decoded({ ...rest, metadata }, served.at.schema ?? served.kind.schema, served.kind.kind, zeros);
  if (served.kind.namespaced) {
    if (object.metadata.namespace && object.metadata.namespace !== request.namespace) {
      throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
    }
    object.metadata.namespace = request.namespace;
  }
  if (request.name !== '') {
    if (object.metadata.name && object.metadata.name !== request.name) {
      throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${request.name})`);
    }
    object.metadata.name = request.name;
  }
  return served.at.toStored?.(object) ?? object;
}

/** The object decoded by its schema. @throws StatusError 400 */
export function decoded(object: JsonObject, schema: Schema, kind: string, zeros?: Zeros): KubeObject {
  const given = { ...object, metadata: incomingMetadata(object['metadata'], kind) };
  if (describesOnly(schema)) return given;
  const typed = decodeBySchema(given, schema, '', zeros);
  return { metadata: {}, ...(isJsonObject(typed) ? typed : {}) };
}

const texts = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'selfLink',
]);
const textMaps = new Set(['labels', 'annotations']);

function incomingMetadata(value: unknown, kind: string): ObjectMeta {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw wrongType(kind, 'metadata', 'an object');
  const metadata: JsonObject = {};
  for (const [field, found] of Object.entries(value)) {
    if (found === null) continue;
    if (texts.has(field) && typeof found !== 'string') throw wrongType(kind, `metadata.${field}`, 'a string');
    if (textMaps.has(field)) {
      if (!isJsonObject(found)) throw wrongType(kind, `metadata.${field}`, 'a map of strings');
      for (const one of Object.values(found)) if (typeof one !== 'string') throw wrongType(kind, `metadata.${field}`, 'a map of strings');
      if (Object.keys(found).length === 0) continue;
    }
    if (field === 'finalizers' && !(Array.isArray(found) && found.every((one) => typeof one === 'string'))) {
      throw wrongType(kind, 'metadata.finalizers', 'a list of strings');
    }
    if (field === 'ownerReferences' && !(Array.isArray(found) && found.every(isJsonObject))) {
      throw wrongType(kind, 'metadata.ownerReferences', 'a list of objects');
    }
    if (Array.isArray(found) && found.length === 0) continue;
    metadata[field] = found;
  }
  return metadata;
}

function wrongType(kind: string, field: string, wanted: string): Error {
  return badRequest(`${kind} cannot be handled: ${field} must be ${wanted}`);
}

/**
 * `value` decoded by its schema, like Go types of a server: unknown fields, nulls, empty lists and empty maps are dropped, and empty
 * strings that are not required. Parts without fields in the schema are unchanged.
 * @param zeros - whether absent fields are written as Go types do, such as `status: {}`; not for an apply, whose manager must not own them. @default 'written'
 * @throws StatusError 400 for a value of the wrong type
 */
export function decodeBySchema(value: unknown, schema: Schema, path: string, zeros: Zeros = 'written'): unknown {
  switch (schema.type) {
    case 'string':
      return checked(value, typeof value === 'string', path, 'a string');
    case 'quantity':
      return decodeQuantity(value, path);
    case 'intOrText':
      return checked(value, typeof value === 'string' || Number.isInteger(value), path, 'a whole number or a string');
    case 'integer':
      return checked(value, Number.isInteger(value), path, 'a whole number');
    case 'number':
      return checked(value, typeof value === 'number', path, 'a number');
    case 'boolean':
      return checked(value, typeof value === 'boolean', path, 'true or false');
    case 'array':
      return decodeList(value, schema.items, path, zeros);
    case 'object':
      return decodeObject(value, schema, path, zeros);
    case 'ref':
      return value;
  }
}

function decodeList(value: unknown, items: Schema | undefined, path: string, zeros: Zeros): unknown {
  if (!Array.isArray(value)) throw notOfType(path, 'a list');
  return items === undefined ? value : value.map((item, at) => decodeBySchema(item, items, `${path}[${at}]`, zeros));
}

function decodeObject(value: unknown, { fields, values, required = [] }: Schema, path: string, zeros: Zeros): unknown {
  if (!isJsonObject(value)) throw notOfType(path, 'an object');
  if (values !== undefined) return decodeMap(value, values, path, zeros);
  if (fields === undefined) return value;
  const decoded: JsonObject = {};
  for (const [name, schema] of Object.entries(fields)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(value, name) || value[name] === null || value[name] === undefined) {
      if (schema.zero === 'written' && zeros === 'written') decoded[name] = zeroOf(schema, at);
      continue;
    }
    const found = decodeBySchema(value[name], schema, at, zeros);
    if (isOmitted(found, schema, required.includes(name))) continue;
    // An empty list is dropped.
    decoded[name] = schema.zero === 'written' && Array.isArray(found) && found.length === 0 ? null : found;
  }
  return decoded;
}

function decodeMap(value: JsonObject, values: Schema, path: string, zeros: Zeros): JsonObject {
  const decoded: JsonObject = {};
  // In a map of strings null becomes the empty string.
  for (const [key, one] of Object.entries(value)) setField(decoded, key, decodeBySchema(one ?? '', values, `${path}[${key}]`, zeros));
  return decoded;
}

function isOmitted(value: unknown, schema: Schema, required: boolean): boolean {
  if (schema.zero === 'kept' || schema.zero === 'written' || (schema.zero === undefined && required)) return false;
  if (value === '') return true;
  if (schema.zero === 'dropped' && (value === 0 || value === false) && schema.type !== 'intOrText') return true;
  if (Array.isArray(value)) return value.length === 0;
  return schema.values !== undefined && isJsonObject(value) && Object.keys(value).length === 0;
}

/** The zero value of a field without omitempty. */
function zeroOf(schema: Schema, path: string): unknown {
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? null : '';
    case 'quantity':
      return '0';
    case 'integer':
    case 'number':
    case 'intOrText':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      return schema.fields === undefined ? null : decodeObject({}, schema, path, 'written');
    case 'array':
    case 'ref':
      return null;
  }
}

/** Canonical form of a quantity: `1000m` becomes `1`. */
function decodeQuantity(value: unknown, path: string): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw notOfType(path, 'a quantity');
  const found = quantity(String(value).trim());
  if (found !== undefined) return canonicalQuantity(found);
  throw badRequest(
    `the object provided cannot be handled: ${path}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  );
}

function checked(value: unknown, fits: boolean, path: string, wanted: string): unknown {
  if (fits) return value;
  throw notOfType(path, wanted);
}

function notOfType(path: string, wanted: string): Error {
  return badRequest(`the object provided cannot be handled: ${path} must be ${wanted}`);
}

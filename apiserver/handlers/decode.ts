import { isJsonObject, setField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import { canonicalQuantity, quantity } from '../../kube/api/quantity.ts';
import type { Schema } from '../openapi/schema.ts';
import { badRequest } from '../status-error.ts';

/**
 * `value` as a server with types would keep it: unknown fields, nulls, empty lists and empty maps are dropped, as are empty
 * texts that are not required. Parts without fields in the schema pass as they are.
 * @throws StatusError 400 for a value of the wrong type
 */
export function decodeBySchema(value: unknown, schema: Schema, path: string): unknown {
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
      return decodeList(value, schema.items, path);
    case 'object':
      return decodeObject(value, schema, path);
    case 'ref':
      return value;
  }
}

function decodeList(value: unknown, items: Schema | undefined, path: string): unknown {
  if (!Array.isArray(value)) throw wrongType(path, 'a list');
  return items === undefined ? value : value.map((item, at) => decodeBySchema(item, items, `${path}[${at}]`));
}

function decodeObject(value: unknown, { fields, values, required = [] }: Schema, path: string): unknown {
  if (!isJsonObject(value)) throw wrongType(path, 'an object');
  if (values !== undefined) return decodeMap(value, values, path);
  if (fields === undefined) return value;
  const decoded: JsonObject = {};
  for (const [name, schema] of Object.entries(fields)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(value, name) || value[name] === null || value[name] === undefined) {
      if (schema.zero === 'written') decoded[name] = zeroOf(schema, at);
      continue;
    }
    const found = decodeBySchema(value[name], schema, at);
    if (isLeftOut(found, schema, required.includes(name))) continue;
    // A list without items is none at all.
    decoded[name] = schema.zero === 'written' && Array.isArray(found) && found.length === 0 ? null : found;
  }
  return decoded;
}

function decodeMap(value: JsonObject, values: Schema, path: string): JsonObject {
  const decoded: JsonObject = {};
  // In a map of texts null is the empty text.
  for (const [key, one] of Object.entries(value)) setField(decoded, key, decodeBySchema(one ?? '', values, `${path}[${key}]`));
  return decoded;
}

function isLeftOut(value: unknown, schema: Schema, required: boolean): boolean {
  if (schema.zero === 'kept' || schema.zero === 'written' || (schema.zero === undefined && required)) return false;
  if (value === '') return true;
  if (schema.zero === 'dropped' && (value === 0 || value === false) && schema.type !== 'intOrText') return true;
  if (Array.isArray(value)) return value.length === 0;
  return schema.values !== undefined && isJsonObject(value) && Object.keys(value).length === 0;
}

/** What stands for an absent value where the field is written all the same. */
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
      return schema.fields === undefined ? null : decodeObject({}, schema, path);
    case 'array':
    case 'ref':
      return null;
  }
}

/** In the form Kubernetes prints: `1000m` is `1`. */
function decodeQuantity(value: unknown, path: string): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType(path, 'a quantity');
  const found = quantity(String(value).trim());
  if (found !== undefined) return canonicalQuantity(found);
  throw badRequest(
    `the object provided cannot be handled: ${path}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  );
}

function checked(value: unknown, fits: boolean, path: string, wanted: string): unknown {
  if (fits) return value;
  throw wrongType(path, wanted);
}

function wrongType(path: string, wanted: string): Error {
  return badRequest(`the object provided cannot be handled: ${path} must be ${wanted}`);
}

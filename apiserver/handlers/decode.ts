import { isJsonObject, setField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
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
      return typeof value === 'number' ? String(value) : checked(value, typeof value === 'string', path, 'a quantity');
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
    if (!Object.hasOwn(value, name) || value[name] === null || value[name] === undefined) continue;
    const found = decodeBySchema(value[name], schema, path === '' ? name : `${path}.${name}`);
    if (!isLeftOut(found, schema) || required.includes(name)) decoded[name] = found;
  }
  return decoded;
}

function decodeMap(value: JsonObject, values: Schema, path: string): JsonObject {
  const decoded: JsonObject = {};
  // In a map of texts null is the empty text.
  for (const [key, one] of Object.entries(value)) setField(decoded, key, decodeBySchema(one ?? '', values, `${path}[${key}]`));
  return decoded;
}

function isLeftOut(value: unknown, schema: Schema): boolean {
  if (value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return schema.values !== undefined && isJsonObject(value) && Object.keys(value).length === 0;
}

function checked(value: unknown, fits: boolean, path: string, wanted: string): unknown {
  if (fits) return value;
  throw wrongType(path, wanted);
}

function wrongType(path: string, wanted: string): Error {
  return badRequest(`the object provided cannot be handled: ${path} must be ${wanted}`);
}

import { stringify } from 'yaml';
import { isFields } from './definitions.ts';
import type { Json, JsonFields } from './definitions.ts';

/*
 * The OpenAPI 2 document in protobuf, the only form kubectl asks for: message and field numbers of gnostic's openapi.v2, as far as our documents go.
 */
const encoder = new TextEncoder();

/** @param document - OpenAPI 2 as JSON */
export function openApiV2Protobuf(document: JsonFields): Uint8Array {
  const info = fields(document['info']);
  return message([
    [1, document['swagger']],
    [
      2,
      message([
        [1, info['title']],
        [2, info['version']],
      ]),
    ],
    [8, message(named(document['paths'], 2, pathItem))],
    [9, message(named(document['definitions'], 1, schema))],
  ]);
}

type Part = readonly [field: number, value: Json | Uint8Array | undefined];

function schema(json: Json): Uint8Array {
  const one = fields(json);
  const required = Array.isArray(one['required']) ? one['required'] : [];
  const additional = one['additionalProperties'];
  return message([
    [1, one['$ref']],
    [2, one['format']],
    [4, one['description']],
    ...required.map((name): Part => [19, name]),
    [21, additional === undefined ? undefined : message([[1, schema(additional)]])],
    [22, one['type'] === undefined ? undefined : message([[1, one['type']]])],
    [23, one['items'] === undefined ? undefined : message([[1, schema(one['items'])]])],
    [25, one['properties'] === undefined ? undefined : message(named(one['properties'], 1, schema))],
    ...extensions(one, 31),
  ]);
}

function pathItem(json: Json): Uint8Array {
  const patch = fields(fields(json)['patch']);
  const parameters = Array.isArray(patch['parameters']) ? patch['parameters'] : [];
  const operation = message([
    [3, patch['description']],
    [5, patch['operationId']],
    ...parameters.map((parameter): Part => [8, queryParameter(fields(parameter))]),
    ...extensions(patch, 13),
  ]);
  return message([[8, operation]]);
}

// ParametersItem.parameter -> Parameter.non_body_parameter -> .query_parameter_sub_schema
function queryParameter(parameter: JsonFields): Uint8Array {
  const query = message([
    [2, parameter['in']],
    [4, parameter['name']],
    [6, parameter['type']],
  ]);
  return message([[1, message([[2, message([[3, query]])]])]]);
}

/** `NamedX { name = 1, value = 2 }` for every entry, at `field`. */
function named(json: Json | undefined, field: number, encode: (value: Json) => Uint8Array): Part[] {
  return Object.entries(fields(json)).map(([name, value]): Part => [
    field,
    message([
      [1, name],
      [2, encode(value)],
    ]),
  ]);
}

/** `x-...` entries: NamedAny with the value as YAML. */
function extensions(json: JsonFields, field: number): Part[] {
  const found = Object.entries(json).filter(([name]) => name.startsWith('x-'));
  return found.map(([name, value]): Part => [
    field,
    message([
      [1, name],
      [2, message([[2, stringify(value)]])],
    ]),
  ]);
}

function fields(json: Json | undefined): JsonFields {
  return isFields(json) ? json : {};
}

/** Parts without a value are left out; texts, booleans and nested messages are all that is needed. */
function message(parts: readonly Part[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const [field, value] of parts) {
    if (value === undefined || value === null) continue;
    if (typeof value === 'boolean') pieces.push(varint(field * 8), varint(value ? 1 : 0));
    else {
      const bytes = value instanceof Uint8Array ? value : encoder.encode(typeof value === 'string' ? value : JSON.stringify(value));
      pieces.push(varint(field * 8 + 2), varint(bytes.length), bytes);
    }
  }
  return Buffer.concat(pieces);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return Uint8Array.from([...bytes, left]);
}

import { createHash } from 'node:crypto';
import { apiVersion, type ServedKind } from '../kinds/kind.ts';
import { definitions, gvk, isFields, type JsonFields } from './definitions.ts';
import type { Json } from '../../kube/api/json.ts';
import { type Answer, encode } from '../http/message.ts';
import type { Registry } from '../kinds/registry.ts';
import { stringify } from 'yaml';

// Clients request `...spec.v2@v1.0+protobuf`, but Go clients reject a response with an @ in its media type.
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Responses of `/openapi/v2` and `/openapi/v3`; undefined for any other path. */
export function openApi(registry: Registry, path: string, accept: string, version: string): Answer | undefined {
  if (path === '/openapi/v2') {
    const document = openApiV2(registry, version);
    if (!accept.includes('protobuf')) return text(encode(document, false)[1]);
    return { code: 200, type: PROTOBUF, bytes: openApiV2Protobuf(document) };
  }
  if (path === '/openapi/v3') return { code: 200, json: openApiV3Index(registry) };
  const document = path.startsWith('/openapi/v3/') ? openApiV3(registry, path.slice('/openapi/v3/'.length), version) : undefined;
  return document === undefined ? undefined : text(encode(document, false)[1]);
}

// kubectl caches these documents on disk by ETag.
function text(json: string): Answer {
  const etag = `"${createHash('sha256').update(json).digest('hex').toUpperCase()}"`;
  return { code: 200, type: 'application/json', bytes: json, headers: { etag } };
}

// kubectl looks for the parameter dryRun of this operation to find out whether the server supports dry runs.
const patchParameters = ['dryRun', 'fieldManager', 'force'];

/** `/openapi/v2`, as JSON. */
function openApiV2(registry: Registry, version: string): JsonFields {
  const kinds = registry.all();
  const paths: JsonFields = {};
  for (const served of kinds) {
    paths[itemPath(served)] = {
      patch: {
        description: `Changes a ${served.kind.kind}.`,
        operationId: `patch${apiVersion(served.at)}${served.kind.kind}`.replaceAll(/[^A-Za-z0-9]/g, ''),
        parameters: patchParameters.map((name) => ({ uniqueItems: true, type: 'string', name, in: 'query' })),
        responses: { '200': { description: 'OK' } },
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': gvk(served, ''),
      },
    };
  }
  return { swagger: '2.0', info: { title: 'Kubernetes', version }, paths, definitions: definitions(kinds, '#/definitions/') };
}

/** `/openapi/v3`: the paths of the documents of all groups and versions. */
function openApiV3Index(registry: Registry): JsonFields {
  const paths: JsonFields = {};
  for (const [group, versions] of registry.groups()) {
    for (const version of versions) {
      const path = `${group === '' ? 'api' : 'apis'}/${apiVersion({ group, version })}`;
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}` };
    }
  }
  return { paths };
}

/** `/openapi/v3/api/v1`; undefined for a group and version that is not served. */
function openApiV3(registry: Registry, path: string, version: string): JsonFields | undefined {
  const [root, ...rest] = path.split('/');
  const [group, at] = root === 'api' && rest.length === 1 ? ['', rest[0]] : root === 'apis' && rest.length === 2 ? rest : [];
  if (group === undefined || at === undefined) return undefined;
  const kinds = registry.under(group, at);
  if (kinds.length === 0) return undefined;
  const paths: JsonFields = {};
  for (const served of kinds) {
    paths[itemPath(served)] = {
      patch: {
        parameters: patchParameters.map((name) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } })),
        responses: { '200': { description: 'OK' } },
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': gvk(served, ''),
      },
    };
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths,
    components: { schemas: definitions(kinds, '#/components/schemas/') },
  };
}

function itemPath({ kind, at }: ServedKind): string {
  const root = at.group === '' ? '/api' : '/apis';
  return `${root}/${apiVersion(at)}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.resource}/{name}`;
}

/*
 * The OpenAPI 2 document in protobuf, the only form that kubectl requests: messages and field numbers of gnostic's openapi.v2 that our documents use.
 */
const encoder = new TextEncoder();

/** @param document - OpenAPI 2 as JSON */
function openApiV2Protobuf(document: JsonFields): Uint8Array {
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

/** Omits parts without a value; only strings, booleans and nested messages are needed. */
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

import { createHash } from 'node:crypto';
import { apiVersion } from '../kinds/kind.ts';
import { definitions, gvk } from './definitions.ts';
import { encode } from '../http/body.ts';
import { openApiV2Protobuf } from './protobuf.ts';
import type { ServedKind } from '../kinds/kind.ts';
import type { Registry } from '../kinds/registry.ts';
import type { JsonFields } from './definitions.ts';
import type { Answer } from '../http/api-request.ts';

// Asked for as `...spec.v2@v1.0+protobuf`, which is no media type: Go's clients refuse an answer with an @ in its type.
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** What `/openapi/v2` and `/openapi/v3` answer; undefined for any other path. */
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

// kubectl keeps these on disk by their tag.
function text(json: string): Answer {
  const etag = `"${createHash('sha256').update(json).digest('hex').toUpperCase()}"`;
  return { code: 200, type: 'application/json', bytes: json, headers: { etag } };
}

// kubectl asks the document whether a server knows dry runs, by this parameter of this operation.
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

/** `/openapi/v3`: where the document of each group and version is. */
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

/** `/openapi/v3/api/v1`; undefined where nothing is served. */
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

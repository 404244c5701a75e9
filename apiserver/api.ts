import { describeError } from '../base/errors.ts';
import { authorize, isPathAllowed } from './auth/authorize.ts';
import { handleResource } from './handlers/resource.ts';
import { type Answer, type ApiRequest, resourceRequest, type ResourceRequest } from './http/message.ts';
import { openApi } from './openapi/document.ts';
import { methodNotAllowed, noSuchPath, pathForbidden, StatusError } from './errors.ts';
import { isEviction } from './handlers/delete.ts';
import { allVerbs, apiVersion, type ServedKind } from './kinds/kind.ts';
import type { Log } from '../base/log.ts';
import type { Context } from './handlers/context.ts';
import type { Registry } from './kinds/registry.ts';

/** The whole API below HTTP: takes a request, returns a response. */
export interface Api {
  context: Context;
  /** Response of `/version`. */
  version: Readonly<Record<string, string>>;
  /** Address of the server in discovery: `127.0.0.1:6443`. */
  address: () => string;
  log: Log;
}

/** Handles a request of an authenticated user. Never throws: every error becomes a Status. */
export function answer(api: Api, request: ApiRequest, resource: ResourceRequest | undefined, body: Uint8Array): Answer {
  try {
    if (resource !== undefined) {
      authorize(api.context.storage, request.user, resource, request.query);
      return handleResource(api.context, resource, request, body);
    }
    const verb = request.method.toLowerCase();
    if (!isPathAllowed(api.context.storage, request.user, verb === 'head' ? 'get' : verb, request.path))
      throw pathForbidden(request.user.name, verb, request.path);
    return elsewhere(api, request);
  } catch (error) {
    return failure(error, api.log);
  }
}

/** The resource that a request names. @throws StatusError for an invalid path or method */
export function route(request: Pick<ApiRequest, 'method' | 'path' | 'query'>): ResourceRequest | undefined {
  return resourceRequest(request.method, request.path, request.query);
}

/** The Status of an error. Any error but a StatusError is a bug: it is logged, and the response is 500. */
export function failure(error: unknown, log: Log): Answer {
  if (error instanceof StatusError) return { code: error.code, json: error.status(), ...retryAfter(error) };
  log.error('request failed', { error: describeError(error), stack: error instanceof Error ? error.stack : undefined });
  return { code: 500, json: new StatusError(500, 'InternalError', 'Internal error occurred: see the log of the API server').status() };
}

function retryAfter(error: StatusError): { headers?: Record<string, string> } {
  const seconds = error.details?.retryAfterSeconds;
  return seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } };
}

function elsewhere(api: Api, { method, path, header }: ApiRequest): Answer {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
  switch (path) {
    case '/version':
    case '/version/':
      return { code: 200, json: api.version };
    case '/healthz':
    case '/livez':
    case '/readyz':
      return { code: 200, type: 'text/plain; charset=utf-8', bytes: 'ok' };
    default: {
      const document = openApi(api.context.registry, path, header('accept'), api.version['gitVersion'] ?? '');
      if (document !== undefined) return document;
      const found = discovery(api.context.registry, path, api.address());
      if (found === undefined) throw noSuchPath();
      return { code: 200, json: found };
    }
  }
}

/** Responses of `/api`, `/api/v1`, `/apis`, `/apis/GROUP` and `/apis/GROUP/VERSION`; undefined for any other path. */
export function discovery(registry: Registry, path: string, address: string): unknown {
  const [root, ...parts] = path.split('/').filter((part) => part !== '');
  if (root === 'api' && parts.length === 0) {
    return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }] };
  }
  if (root === 'api' && parts.length === 1) return resources(registry, '', parts[0] ?? '');
  if (root !== 'apis') return undefined;
  const [name, version] = parts;
  const groups = [...registry.groups()].filter(([group]) => group !== '');
  if (name === undefined)
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(([group, versions]) => apiGroup(group, versions)) };
  if (version !== undefined) return parts.length === 2 ? resources(registry, name, version) : undefined;
  const versions = registry.groups().get(name);
  return versions === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(name, versions) };
}

function apiGroup(name: string, versions: readonly string[]): Record<string, unknown> {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

function resources(registry: Registry, group: string, version: string): unknown {
  const served = registry.under(group, version);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersion({ group, version }),
    resources: served.flatMap((one) => resource(one, registry.release)),
  };
}

/** Version of evictions: kubectl drain posts the version that it finds here, policy/v1 from 1.22 on. */
const eviction = (release: number): Record<string, unknown> => ({
  name: 'pods/eviction',
  singularName: '',
  namespaced: true,
  group: 'policy',
  version: release < 22 ? 'v1beta1' : 'v1',
  kind: 'Eviction',
  verbs: ['create'],
});

function resource(served: ServedKind, release: number): Record<string, unknown>[] {
  const { kind } = served;
  const { resource: name, singular: singularName, namespaced, kind: kindName } = kind;
  const own = {
    name,
    singularName,
    namespaced,
    kind: kindName,
    verbs: [...(kind.verbs ?? allVerbs)].sort(),
    ...(kind.shortNames ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories ? { categories: kind.categories } : {}),
  };
  const status = { name: `${name}/status`, singularName: '', namespaced, kind: kindName, verbs: ['get', 'patch', 'update'] };
  const actions = Object.entries(kind.actions ?? {}).map(([action, { kind: body }]) => ({
    name: `${name}/${action}`,
    singularName: '',
    namespaced,
    kind: body,
    verbs: ['create'],
  }));
  const views = Object.entries(kind.views ?? {}).map(([view, { group, version, kind: shown }]) => ({
    name: `${name}/${view}`,
    singularName: '',
    namespaced,
    group,
    version,
    kind: shown,
    verbs: ['get', 'patch', 'update'],
  }));
  return [own, ...(kind.hasStatus ? [status] : []), ...actions, ...(isEviction(served, 'eviction') ? [eviction(release)] : []), ...views];
}

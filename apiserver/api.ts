import { describeError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { authorize, mayAsk } from './auth/authorize.ts';
import { discovery } from './discovery.ts';
import type { Context } from './handlers/context.ts';
import { handleResource } from './handlers/resource.ts';
import type { Answer, ApiRequest, ResourceRequest } from './http/api-request.ts';
import { resourceRequest } from './http/route.ts';
import { openApi } from './openapi/answer.ts';
import { methodNotAllowed, noSuchPath, pathForbidden, StatusError } from './status-error.ts';

/** The whole API below HTTP: a request in, an answer out. */
export interface Api {
  context: Context;
  /** What `/version` says. */
  version: Readonly<Record<string, string>>;
  /** Where discovery says the server is: `127.0.0.1:6443`. */
  address: () => string;
  log: Log;
}

/** Answers a request whose user is known. Never throws: what goes wrong becomes a Status. */
export function answer(api: Api, request: ApiRequest, resource: ResourceRequest | undefined, body: Uint8Array): Answer {
  try {
    if (resource !== undefined) {
      authorize(api.context.storage, request.user, resource, request.query);
      return handleResource(api.context, resource, request, body);
    }
    const verb = request.method.toLowerCase();
    if (!mayAsk(api.context.storage, request.user, verb === 'head' ? 'get' : verb, request.path))
      throw pathForbidden(request.user.name, verb, request.path);
    return elsewhere(api, request);
  } catch (error) {
    return failure(error, api.log);
  }
}

/** What is asked for, or the Status that says why it means nothing. */
export function route(request: Pick<ApiRequest, 'method' | 'path' | 'query'>): ResourceRequest | undefined {
  return resourceRequest(request.method, request.path, request.query);
}

/** A Status for whatever was thrown. An error nobody foresaw is our own fault: 500, and the log has it. */
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

import { badRequest, methodNotAllowed } from '../errors.ts';
import type { Verb } from '../kinds/kind.ts';
import type { User } from '../auth/authenticate.ts';

/** One request as handlers see it, whatever version of HTTP it came over. */
export interface ApiRequest {
  /** Upper case. */
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** '' where there is none. */
  header: (name: string) => string;
  user: User;
  /** Aborts when the client disconnects or the server stops. */
  signal: AbortSignal;
  /** Reads that may be answered from an older state are, from one so many changes old. @default 0 */
  staleBy?: number;
}

/** The resource and verb that path and method name. */
export interface ResourceRequest {
  verb: Verb;
  group: string;
  version: string;
  resource: string;
  /** '' for cluster-scoped kinds, and for all namespaces. */
  namespace: string;
  /** '' for collections. */
  name: string;
  /** '' for the object itself. */
  subresource: string;
}

/** One event of a watch as it is written, and what it is about. */
export interface Line {
  type: string;
  /** Of the object; '' for none. */
  name: string;
  /** With its newline. */
  text: string;
}

/** The answer to a request. A stream is written batch by batch until it ends, each batch in one write; its client may be slow. */
export type Answer =
  | { code: number; json: unknown; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; bytes: Uint8Array | string; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; stream: AsyncIterable<readonly Line[]> };

/**
 * Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`.
 * @returns undefined when the path is none of these, or names only a group or version (discovery)
 * @throws StatusError 400 for broken percent-encoding, 405 for a method without a verb there
 */
export function resourceRequest(method: string, path: string, query: URLSearchParams): ResourceRequest | undefined {
  const segments = path.split('/').slice(1).map(decode);
  if (segments.at(-1) === '') segments.pop();
  const [root, ...rest] = segments;
  const group = root === 'api' ? '' : root === 'apis' ? rest.shift() : undefined;
  const [version, ...parts] = rest;
  if (group === undefined || version === undefined || parts.length === 0) return undefined;
  const place = placeOf(parts);
  if (place === undefined) return undefined;
  return { group, version, ...place, verb: verbOf(method, place.name, place.subresource, query) };
}

function placeOf(parts: readonly string[]): Omit<ResourceRequest, 'group' | 'version' | 'verb'> | undefined {
  // /namespaces/NS/status is a subresource of the namespace; any other third part is a resource in it.
  const scoped = parts[0] === 'namespaces' && parts.length > 2 && !['status', 'finalize'].includes(parts[2] ?? '');
  const namespace = scoped ? (parts[1] ?? '') : '';
  const [resource, name = '', subresource = '', ...tooMuch] = scoped ? parts.slice(2) : parts;
  if (resource === undefined || resource === '' || tooMuch.length > 0 || (parts.length > 1 && parts.includes(''))) return undefined;
  return { namespace, resource, name, subresource };
}

function verbOf(method: string, name: string, subresource: string, query: URLSearchParams): Verb {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (isTrue(query.get('watch')) && subresource === '') return 'watch';
      return name === '' ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      throw methodNotAllowed();
  }
}

/** A boolean of the query, as Go's ParseBool reads it. */
export function isTrue(value: string | null): boolean {
  return value === '1' || value === 't' || value === 'T' || value?.toLowerCase() === 'true';
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw Object.assign(badRequest(`invalid URL escape in path segment ${JSON.stringify(segment)}`), { cause });
  }
}

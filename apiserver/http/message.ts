import { parseDocument, stringify } from 'yaml';
import { describeError } from '../../base/errors.ts';
import { isDeeperThan, isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import { decodeProtobuf } from './protobuf-body.ts';
import { badRequest, methodNotAllowed, notAcceptable, StatusError, unsupportedMediaType } from '../errors.ts';
import type { Verb } from '../kinds/kind.ts';
import type { User } from '../auth/authenticate.ts';

/** One request, independent of the HTTP version. */
export interface ApiRequest {
  /** Upper case. */
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** '' if the header is absent. */
  header: (name: string) => string;
  user: User;
  /** Aborts when the client disconnects or the server stops. */
  signal: AbortSignal;
  /** Reads that accept an older state get one that is this many changes old. @default 0 */
  staleBy?: number;
}

/** The resource and verb of a path and method. */
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

/** One event of a watch as it is written, and the name of its object. */
export interface Line {
  type: string;
  /** Name of the object; '' for none. */
  name: string;
  /** Including the newline. */
  text: string;
}

/** The response to a request. A stream is written batch by batch, each batch in one write; it waits for a slow client. */
export type Answer =
  | { code: number; json: unknown; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; bytes: Uint8Array | string; headers?: Readonly<Record<string, string>> }
  | { code: number; type: string; stream: AsyncIterable<readonly Line[]> };

/**
 * Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`.
 * @returns undefined if the path is neither, or names only a group or version (discovery)
 * @throws StatusError 400 for invalid percent-encoding, 405 for a method without a verb on this path
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

/** As the real server: 3 MiB. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

// Far deeper than any object; without a limit a hostile body would overflow the stack of recursive functions.
const MAX_BODY_DEPTH = 500;

/** `application/json` of `application/json; charset=utf-8`, lower case. */
export function mediaType(header: string): string {
  return (header.split(';')[0] ?? '').trim().toLowerCase();
}

/**
 * The value of a JSON or YAML body. A missing content type means JSON.
 * @throws StatusError 400 for a body that is not UTF-8, JSON or YAML; 415 for any other content type
 */
export function decodeBody(bytes: Uint8Array, contentType: string): unknown {
  const type = mediaType(contentType);
  const isYaml = type.endsWith('yaml');
  const isProtobuf = type === 'application/vnd.kubernetes.protobuf';
  if (!isYaml && !isProtobuf && type !== '' && type !== 'application/json' && !type.endsWith('+json') && type !== '*/*') {
    throw unsupportedMediaType(['application/json', 'application/yaml']);
  }
  let value: unknown;
  try {
    if (isProtobuf) return decodeProtobuf(bytes);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = isYaml ? fromYaml(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${isYaml ? 'YAML' : 'JSON'}): ${describeError(error)}`);
  }
  if (isDeeperThan(value, MAX_BODY_DEPTH)) throw badRequest(`the object provided is nested deeper than ${MAX_BODY_DEPTH} levels`);
  return value;
}

/** Like {@link decodeBody}, for a body that must be an object. */
export function decodeObject(bytes: Uint8Array, contentType: string): JsonObject {
  const value = decodeBody(bytes, contentType);
  if (!isJsonObject(value)) throw badRequest('the object provided is unrecognized: it must be a JSON or YAML object');
  return value;
}

function fromYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1', uniqueKeys: true });
  const [problem] = document.errors;
  if (problem) throw problem;
  // The number of aliases is limited, so that a small text cannot grow into a huge object.
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  // Dates, binaries and other types of YAML 1.1 become JSON types.
  return JSON.parse(JSON.stringify(value ?? null));
}

/** The form of a response. */
export interface Format {
  /** Form that replaces the object itself. @default undefined */
  as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined;
  yaml: boolean;
  /** Requested version of meta.k8s.io for `as`. */
  metaVersion: string;
}

const plain: Format = { as: undefined, yaml: false, metaVersion: 'v1' };
const transforms = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

/** The first supported form in an Accept header; a missing header means JSON. @throws StatusError 406 if none is supported */
export function formatOf(accept: string): Format {
  if (accept.trim() === '') return plain;
  for (const clause of accept.split(',')) {
    const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
    const parameters = new Map(rest.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
    const yaml = type === 'application/yaml';
    if (!yaml && !['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return { ...plain, yaml };
    const metaVersion = parameters.get('v') ?? '';
    const known = transforms.find((transform) => transform === as);
    if (known && parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(metaVersion)) return { as: known, yaml, metaVersion };
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

/** The encoded content of a response. */
export function encode(json: unknown, yaml: boolean): [type: string, text: string] {
  return yaml ? ['application/yaml', stringify(json, { aliasDuplicateObjects: false })] : ['application/json', `${JSON.stringify(json)}\n`];
}

const LARGE_LIST = 2_000;

/**
 * A large list in pieces: as one text it may exceed V8's maximum string length, and encoding it would block the event loop.
 * undefined for everything else.
 */
export function piecesOf(json: unknown): Iterable<string> | undefined {
  if (!isJsonObject(json) || !Array.isArray(json['items']) || json['items'].length < LARGE_LIST) return undefined;
  const { items, ...head } = json as { items: readonly unknown[] };
  return pieces(JSON.stringify(head), items);
}

function* pieces(head: string, items: readonly unknown[]): Generator<string> {
  yield `${head.slice(0, -1)},"items":[`;
  for (let at = 0; at < items.length; at += LARGE_LIST / 4) {
    const texts = items.slice(at, at + LARGE_LIST / 4).map((item) => JSON.stringify(item));
    yield `${at === 0 ? '' : ','}${texts.join(',')}`;
  }
  yield ']}\n';
}

/** A batch of a stream as one text. */
export function textOf(batch: readonly Line[]): string {
  const [first] = batch;
  return batch.length === 1 && first !== undefined ? first.text : batch.map(({ text }) => text).join('');
}

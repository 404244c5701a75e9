import { ActionError } from '../../base/errors.ts';
import { fieldsOf, isJsonObject, type JsonObject } from '../api/json.ts';
import { isExpired, isNotFound } from './errors.ts';
import type { KubeList, KubeObject, Resource } from '../api/object.ts';
import type { TooLarge } from './json-bytes.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** The media type of a patch request. */
export const patchContentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const satisfies Record<PatchType, string>;

export interface CallOptions {
  signal?: AbortSignal;
  /** Longest wait for the complete answer, in ms; for a list, the longest time without a byte. @default 30_000 */
  timeoutMs?: number;
}

/** For callers that read many objects, and prefer to miss one that is too large over missing all of them. */
export interface Skipping {
  /** Called for each object with more bytes or values than the client accepts; the other objects follow. @default the call fails */
  skipped?: ((what: TooLarge) => void) | undefined;
}

/** Options of every call that changes something. */
export interface WriteOptions extends CallOptions {
  /** The server does everything but store the change. */
  dryRun?: boolean;
  /** The field manager to record; server-side apply requires it. */
  fieldManager?: string;
}

export interface ObjectRef {
  name: string;
  /** Absent for cluster-scoped kinds. */
  namespace?: string;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject;
}

/**
 * A client of the API server. Objects are raw JSON. Every failure is an {@link ApiError} (the server answered) or a TransportError (it did not answer, or not
 * as a Kubernetes API). A call whose signal aborts throws the signal's reason; a call that cannot be sent at all (a credential file that was never readable,
 * a name that is not allowed in a path) throws an ActionError.
 */
export interface Client {
  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource, query?: ListQuery, options?: CallOptions): Promise<KubeList<T>>;
  /**
   * A list of any size, decoded as it arrives: `each` gets item after item, the event loop runs other work in between, and the whole answer is never in
   * memory. After a failure, discard what `each` got so far.
   * @returns the list's metadata
   */
  listEach<T extends KubeObject>(
    resource: Resource,
    query: ListQuery,
    each: (item: T) => void,
    options?: CallOptions & Skipping,
  ): Promise<KubeList['metadata']>;
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { namespace?: string }): Promise<T>;
  /** Posts to a subresource: `pods/binding`, `pods/eviction`, `serviceaccounts/token`. @returns the server's answer, often a Status */
  post(resource: Resource, ref: ObjectRef, subresource: string, body: unknown, options?: WriteOptions): Promise<unknown>;
  replace<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { subresource?: string }): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    patch: unknown,
    options: WriteOptions & { type: PatchType; subresource?: string },
  ): Promise<T>;
  delete(resource: Resource, ref: ObjectRef, options?: CallOptions & { body?: unknown }): Promise<void>;
  /** One watch request: yields events until the server, the signal or new credentials end it. @throws ApiError, also for an ERROR event (410: code 410) */
  watch<T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent & { object: T }>;
  /** A raw path, JSON in and out: `/version`, discovery. @param options - answers: `text` for other formats, such as metrics through the server's proxy */
  raw(
    method: string,
    path: string,
    options?: CallOptions & { body?: unknown; contentType?: string; accept?: string; answers?: 'json' | 'text' },
  ): Promise<unknown>;
  /** Closes every connection; pending calls fail. */
  close(): Promise<void>;
}

export interface ListQuery {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

export interface WatchQuery extends Pick<ListQuery, 'namespace' | 'labelSelector' | 'fieldSelector' | 'resourceVersion'>, Skipping {
  /** Ask the server to end the watch after this many seconds. */
  timeoutSeconds?: number;
  /** The current state first, as ADDED events up to a bookmark annotated `k8s.io/initial-events-end` (1.27 and later, gate WatchList). */
  sendInitialEvents?: boolean;
  /** Called once the server has accepted the watch: from then on, no event means no change. */
  opened?: (() => void) | undefined;
  /** Events may omit `metadata.managedFields`, which saves parsing them. For callers that do not keep them. @default false */
  stripManagedFields?: boolean;
  /** Required with `sendInitialEvents`: `NotOlderThan`. */
  resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

/**
 * The path of a collection, or of one object in it. Names are encoded; names that encoding does not make safe are rejected, because servers decode the path
 * before they split it.
 * @param namespace - required for one object of a namespaced kind; without it a collection spans all namespaces
 * @throws {ActionError} for a missing namespace, an empty name, and names with `/` or `%`, `.` or `..`
 */
export function objectPath(
  resource: Resource,
  ref: { name?: string | undefined; namespace?: string | undefined },
  subresource?: string,
): string {
  const parts = resource.group === '' ? ['api'] : ['apis', segment('group', resource.group)];
  parts.push(segment('version', resource.version));
  if (resource.namespaced && ref.namespace !== undefined && ref.namespace !== '')
    parts.push('namespaces', segment('namespace', ref.namespace));
  else if (resource.namespaced && ref.name !== undefined) {
    throw new ActionError('address', `${resource.kind} ${ref.name}`, { hint: 'its kind is namespaced; set a namespace' });
  }
  parts.push(segment('resource', resource.resource));
  if (ref.name !== undefined) parts.push(segment('name', ref.name));
  if (subresource !== undefined) parts.push(segment('subresource', subresource));
  return `/${parts.join('/')}`;
}

/** The query of a list, watch or write: `` or `?a=b&c=d`. */
export function queryString(
  query: ListQuery & WatchQuery & { dryRun?: 'All'; fieldManager?: string | undefined },
  extra: Readonly<Record<string, string>> = {},
): string {
  const pairs: [string, string | number | boolean | undefined][] = [
    ['labelSelector', query.labelSelector],
    ['fieldSelector', query.fieldSelector],
    ['limit', query.limit],
    ['continue', query.continue],
    ['resourceVersion', query.resourceVersion],
    ['resourceVersionMatch', query.resourceVersionMatch],
    ['timeoutSeconds', query.timeoutSeconds],
    ['sendInitialEvents', query.sendInitialEvents],
    ['dryRun', query.dryRun],
    ['fieldManager', query.fieldManager],
    ...Object.entries(extra),
  ];
  const given = pairs.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]));
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

function segment(what: string, text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text) || !text.isWellFormed()) {
    throw new ActionError('address', `${what} ${JSON.stringify(text)}`, {
      hint: "it is empty, '.', '..', or holds '/' or '%', which no name may",
    });
  }
  return encodeURIComponent(text);
}

/** Objects in each page. */
const PAGE = 500;
/** Restarts of a list whose pages expired. */
const MAX_RESTARTS = 3;

/**
 * Calls `onEach` once for every object of a kind, page by page. When the pages expire (410) the list starts again, and an object that `onEach` got before is
 * not passed again.
 * @throws ActionError when the server keeps returning the same page; ApiError, TransportError
 */
export async function listPages<T extends KubeObject>(
  client: Pick<Client, 'listEach'>,
  resource: Resource,
  selection: { namespace?: string; labelSelector?: string },
  onEach: (object: T) => void,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Set<string>();
  const once = (object: T): void => {
    const { namespace = '', name = '' } = object.metadata;
    const key = `${namespace}/${name}`;
    if (seen.has(key)) return;
    seen.add(key);
    onEach(object);
  };
  let next: string | undefined;
  for (let restarts = 0; ;) {
    try {
      const query = { limit: PAGE, ...(next ? { continue: next } : {}), ...selection };
      const page = await client.listEach<T>(resource, query, once, { signal });
      if (!page.continue) return;
      if (page.continue === next)
        throw new ActionError('list', resource.resource, { hint: 'the API server keeps returning the same continue token' });
      next = page.continue;
    } catch (error) {
      // The continue token has expired: list from the start.
      if (next === undefined || !isExpired(error) || restarts++ === MAX_RESTARTS) throw error;
      next = undefined;
    }
  }
}

/** What discovery lists in a version of a group, subresources included; nothing where the API server does not serve the version. @throws ApiError, TransportError */
export async function servedResources(
  client: Pick<Client, 'raw'>,
  { group, version }: Pick<Resource, 'group' | 'version'>,
  options: CallOptions = {},
): Promise<readonly JsonObject[]> {
  const path = [group === '' ? 'api' : 'apis', group, version].filter((part) => part !== '').map(encodeURIComponent);
  try {
    return resourcesIn(await client.raw('GET', `/${path.join('/')}`, options));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The items of an APIResourceList; none of anything else. */
export function resourcesIn(list: unknown): readonly JsonObject[] {
  const { resources } = fieldsOf(list);
  return Array.isArray(resources) ? resources.filter((one: unknown) => isJsonObject(one)) : [];
}

/** Whether the API server serves a resource. @throws ApiError, TransportError */
export async function servesResource(
  client: Pick<Client, 'raw'>,
  resource: Pick<Resource, 'group' | 'version' | 'resource'>,
  signal: AbortSignal,
): Promise<boolean> {
  return (await servedResources(client, resource, { signal })).some(({ name }) => name === resource.resource);
}

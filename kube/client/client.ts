import { ActionError } from '../../base/errors.ts';
import { isExpired } from './errors.ts';
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
  /** Longest wait for the answer's end, in ms; for a list, the longest time in which no byte of it comes. @default 30_000 */
  timeoutMs?: number;
}

/** For callers that read many objects, and would rather miss one that is too large than all of them. */
export interface Skipping {
  /** Called for each object that has more bytes than the client takes; the others follow. @default the call fails */
  skipped?: ((what: TooLarge) => void) | undefined;
}

/** Options of every call that changes something. */
export interface WriteOptions extends CallOptions {
  /** The server does everything but store it. */
  dryRun?: boolean;
  /** Who to record as the owner of the fields; server-side apply needs it. */
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
 * The API server as our loops see it. Objects are raw JSON. Every failure is an {@link ApiError} (the server answered) or a
 * TransportError (it did not, or not with something that is Kubernetes). A call whose signal aborts throws the signal's reason; one that cannot be
 * made at all (a credential file that was never readable, a name that fits into no path) throws an ActionError.
 */
export interface Client {
  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource, query?: ListQuery, options?: CallOptions): Promise<KubeList<T>>;
  /**
   * A list of any size, decoded as it arrives: `each` gets item after item, the loop runs other things in between, and the answer as a whole is
   * never in memory. When it fails, what `each` got so far is worth nothing.
   * @returns the list's metadata
   */
  listEach<T extends KubeObject>(
    resource: Resource,
    query: ListQuery,
    each: (item: T) => void,
    options?: CallOptions & Skipping,
  ): Promise<KubeList['metadata']>;
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { namespace?: string }): Promise<T>;
  /** Posts to a subresource: `pods/binding`, `pods/eviction`, `serviceaccounts/token`. @returns what the server says, often a Status */
  post(resource: Resource, ref: ObjectRef, subresource: string, body: unknown, options?: WriteOptions): Promise<unknown>;
  replace<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions & { subresource?: string }): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    patch: unknown,
    options: WriteOptions & { type: PatchType; subresource?: string },
  ): Promise<T>;
  delete(resource: Resource, ref: ObjectRef, options?: CallOptions & { body?: unknown }): Promise<void>;
  /** One watch request: yields events until the server ends it, the signal aborts, or new credentials need a new one. @throws ApiError, also for an ERROR event (410: code 410) */
  watch<T extends KubeObject>(resource: Resource, query: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent & { object: T }>;
  /** A raw path, JSON in and out: `/version`, discovery. @param options - answers: `text` for what is no JSON, such as metrics through the server's proxy */
  raw(
    method: string,
    path: string,
    options?: CallOptions & { body?: unknown; contentType?: string; accept?: string; answers?: 'json' | 'text' },
  ): Promise<unknown>;
  /** Closes every connection; calls under way fail. */
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
  /** The present state first, as ADDED events up to a bookmark annotated `k8s.io/initial-events-end` (1.27 and later, gate WatchList). */
  sendInitialEvents?: boolean;
  /** Called once the server has taken the watch: what it does not tell from here on has not happened. */
  opened?: (() => void) | undefined;
  /** Events may come without `metadata.managedFields`, which then cost nothing. For callers that do not keep them. @default false */
  stripManagedFields?: boolean;
  /** Required with `sendInitialEvents`: `NotOlderThan`. */
  resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

/**
 * The path of a collection, or of one object in it. Names are encoded; those that no encoding makes safe are refused, because
 * servers undo the encoding before they split the path.
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
/** Lists that are begun again since the server forgot the state that their pages show. */
const MAX_RESTARTS = 3;

/**
 * Calls `onEach` once for every object of a kind, page by page. Where the pages expire (410) the list begins again, and an object that has been told before
 * is not told as it is now.
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
      // The server has forgotten the state that the pages show.
      if (next === undefined || !isExpired(error) || restarts++ === MAX_RESTARTS) throw error;
      next = undefined;
    }
  }
}

import { describeError } from '../../base/errors.ts';
import type { KubeObject, Status } from '../../kube/api/object.ts';
import type { ResourceRequest } from '../http/message.ts';
import { groupResource, type ServedKind, storageName } from '../kinds/kind.ts';
import { indexOf, storageKey, type View } from '../storage/storage.ts';
import { badRequest, expired, notFound, notSupported, prohibited, StatusError, TODAY } from '../errors.ts';
import { type ReadRequest, badListOption, checkReached, type Context, numberOf, selection, staleVersion, versionOf } from './context.ts';

/** One object. @throws StatusError 404 */
export function getObject(context: Context, served: ServedKind, request: ResourceRequest, from: ReadRequest): KubeObject {
  const { storage } = context;
  checkReached(versionOf(from.query), storage.version);
  const name = storageName(served.kind);
  const key = storageKey(request.namespace, request.name);
  const version = staleVersion(storage, name, from);
  const object = version === undefined ? storage.get(name, key) : storage.getAt(name, key, version);
  if (object === undefined) throw notFound(groupResource(served), request.name);
  return object;
}

/** A page of a list. */
export interface Page {
  version: number;
  objects: readonly KubeObject[];
  /** Start of the next page; undefined on the last page. */
  continue?: string;
  /** Number of objects after this page; undefined with a selector, which makes it unknown. */
  remaining?: number;
}

/** Lists matching objects, in pages of `limit`; all pages have the same resourceVersion. @throws StatusError 400, 410, 504 */
export function listObjects(context: Context, served: ServedKind, request: ResourceRequest, from: ReadRequest): Page {
  const { query } = from;
  const limit = numberOf(query, 'limit');
  const token = query.get('continue') ?? '';
  const version = versionOf(query);
  const chosen = selection(served, query);
  checkMatch(query, version, token);
  checkReached(version, context.storage.version);
  const start = token === '' ? undefined : continued(token);
  if (start !== undefined && version !== undefined && version !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const view = viewOf(context, served, request, start, exactVersion(query, version, limit, start), from);
  const first = start === undefined ? view.from : Math.max(view.from, indexOf(view.keys, start.key));
  // As on a real server, a list that may come from a cache ignores the limit; before 1.TODAY only for its first page.
  const isCut = version !== 0 || (start !== undefined && context.registry.release < TODAY);
  const most = limit > 0 && isCut ? limit : Infinity;
  const objects: KubeObject[] = [];
  let at = first;
  for (; at < view.to && objects.length <= most; at++) {
    const object = view.objects.get(view.keys[at] ?? '');
    if (object !== undefined && chosen.matches(object)) objects.push(object);
  }
  if (objects.length <= most) return { version: view.version, objects };
  objects.pop();
  const next = tokenFor(view.version, keyOf(objects.at(-1)));
  return { version: view.version, objects, continue: next, ...(chosen.all ? { remaining: view.to - at + 1 } : {}) };
}

/** The exact version that a list must have; undefined: the newest. */
function exactVersion(
  query: URLSearchParams,
  version: number | undefined,
  limit: number,
  start: Continued | undefined,
): number | undefined {
  if (start !== undefined) return start.version === LATEST ? undefined : start.version;
  const match = query.get('resourceVersionMatch') ?? '';
  // Without resourceVersionMatch, a limit implies Exact, as before 1.19.
  const isExact = match === 'Exact' || (match === '' && limit > 0 && version !== 0);
  return isExact ? version : undefined;
}

function viewOf(
  context: Context,
  served: ServedKind,
  request: ResourceRequest,
  start: Continued | undefined,
  exact: number | undefined,
  from: ReadRequest,
): View {
  const namespace = request.namespace === '' ? undefined : request.namespace;
  const name = storageName(served.kind);
  const version = exact ?? (start === undefined ? staleVersion(context.storage, name, from) : undefined);
  if (version === undefined) return context.storage.view(name, namespace);
  const found = context.storage.viewAt(name, version, namespace);
  if (found !== undefined) return found;
  throw start === undefined ? expired('The resourceVersion for the provided list is too old.') : new ExpiredContinue(start.key);
}

/** 410 with a token that continues at the newest version, for clients that accept an inconsistent list. */
class ExpiredContinue extends StatusError {
  readonly #key: string;
  constructor(key: string) {
    const advice =
      'You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first ' +
      'chunk was returned and now may show up in the list.';
    super(410, 'Expired', `The provided continue parameter is too old to display a consistent list result. ${advice}`);
    this.#key = key;
  }

  override status(): Status {
    return { ...super.status(), metadata: { continue: tokenOf(LATEST, this.#key) } };
  }
}

function checkMatch(query: URLSearchParams, version: number | undefined, token: string): void {
  const match = query.get('resourceVersionMatch');
  if (match === null || match === '') return;
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw badListOption(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  }
  const refuse = (why: string): Error => badListOption(prohibited('resourceVersionMatch', `resourceVersionMatch ${why}`));
  if (token !== '') throw refuse('is forbidden when continue is provided');
  if (version === undefined) throw refuse('is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && version === 0) throw refuse('"exact" is forbidden for resourceVersion "0"');
}

interface Continued {
  /** {@link LATEST} for the newest version. */
  version: number;
  /** The first key of the page. */
  key: string;
}

const LATEST = -1;

function continued(token: string): Continued {
  let why = 'this server did not issue it';
  try {
    const { rv, start }: { rv?: unknown; start?: unknown } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (typeof rv === 'number' && Number.isSafeInteger(rv) && rv >= LATEST && typeof start === 'string') return { version: rv, key: start };
  } catch (error) {
    why = describeError(error);
  }
  throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/** A token that continues after `key`, at the smallest key that follows it. */
function tokenFor(version: number, key: string): string {
  return tokenOf(version, `${key}\0`);
}

function tokenOf(version: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start })).toString('base64url');
}

function keyOf(object: KubeObject | undefined): string {
  return storageKey(object?.metadata.namespace, object?.metadata.name ?? '');
}

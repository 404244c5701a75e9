import type { KubeObject } from '../../kube/api/object.ts';
import type { ResourceRequest } from '../http/api-request.ts';
import { groupResource, storageName } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { storageKey } from '../storage/storage.ts';
import type { Snapshot } from '../storage/storage.ts';
import { notSupported, prohibited } from '../field-error.ts';
import { badRequest, expired, notFound } from '../status-error.ts';
import type { Context } from './context.ts';
import { selection } from './selection.ts';
import { staleVersion } from './stale.ts';
import type { Asked } from './stale.ts';
import { checkReached, numberOf, versionOf } from './versions.ts';
import { badListOption } from './write-options.ts';

/** One object. @throws StatusError 404 */
export function getObject(context: Context, served: ServedKind, request: ResourceRequest, from: Asked): KubeObject {
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
  /** Where the next page starts; undefined on the last. */
  continue?: string;
  /** Objects after this page; undefined where a selector makes it unknown. */
  remaining?: number;
}

/** Lists what matches, in pages when `limit` says so; all pages show one resourceVersion. @throws StatusError 400, 410, 504 */
export function listObjects(context: Context, served: ServedKind, request: ResourceRequest, from: Asked): Page {
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
  const { version: at, objects } = snapshot(
    context,
    served,
    request,
    start?.version ??
      (query.get('resourceVersionMatch') === 'Exact' ? version : staleVersion(context.storage, storageName(served.kind), from)),
  );
  const after = start === undefined ? objects : objects.slice(indexAfter(objects, start.key));
  const found = chosen.all ? after : after.filter(chosen.matches);
  // As on the real server, a list that may come from a cache is not cut.
  const cut = limit > 0 && found.length > limit && (version !== 0 || start !== undefined);
  if (!cut) return { version: at, objects: found };
  const page = found.slice(0, limit);
  const next = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: at, start: keyOf(page.at(-1)) })).toString('base64url');
  return { version: at, objects: page, continue: next, ...(chosen.all ? { remaining: found.length - limit } : {}) };
}

function snapshot(context: Context, served: ServedKind, request: ResourceRequest, version: number | undefined): Snapshot {
  const namespace = request.namespace === '' ? undefined : request.namespace;
  const name = storageName(served.kind);
  if (version === undefined) return context.storage.list(name, namespace);
  const found = context.storage.listAt(name, version, namespace);
  if (found !== undefined) return found;
  throw expired(
    'The provided continue parameter is too old to display a consistent list result. ' +
      'You can start a new list without the continue parameter, or use a newer resourceVersion.',
  );
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

function continued(token: string): { version: number; key: string } {
  try {
    const { rv, start }: { rv?: unknown; start?: unknown } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (typeof rv === 'number' && Number.isSafeInteger(rv) && rv >= 0 && typeof start === 'string') return { version: rv, key: start };
  } catch {
    // falls through: every broken token gets one answer
  }
  throw badRequest('continue key is not valid');
}

function keyOf(object: KubeObject | undefined): string {
  return storageKey(object?.metadata.namespace, object?.metadata.name ?? '');
}

// Objects are in the order of their keys, but the last one of the page before may be gone by now.
function indexAfter(objects: readonly KubeObject[], key: string): number {
  const at = objects.findIndex((object) => keyOf(object) > key);
  return at === -1 ? objects.length : at;
}

import { badRequest, resourceVersionTooLarge } from '../errors.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { Storage } from '../storage/storage.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { ServedKind } from '../kinds/kind.ts';

/** A resourceVersion of a query. @returns undefined when absent @throws StatusError 400 for what is no number */
export function versionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text)}: it must be a whole number`);
  return Number(text);
}

/** A number of the query, 0 when absent. @throws StatusError 400 */
export function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null || text === '') return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid value ${JSON.stringify(text)} of ${name}: it must be a whole number`);
  return Number(text);
}

/** @throws StatusError 504 for a version the server has not reached */
export function checkReached(version: number | undefined, current: number): void {
  if (version !== undefined && version > current) throw resourceVersionTooLarge(version, current);
}

export type Asked = Pick<ApiRequest, 'query' | 'staleBy'>;

/** Whether a real server could answer from a cache that lags: some version was asked for, or any, and not exactly that one. */
export function mayBeStale(query: URLSearchParams): boolean {
  return (
    (query.get('resourceVersion') ?? '') !== '' && query.get('resourceVersionMatch') !== 'Exact' && (query.get('continue') ?? '') === ''
  );
}

/** The version that a lagging replica would answer from; undefined for the newest. Never older than what was asked for, or than what is known. */
export function staleVersion(storage: Storage, kind: string, { query, staleBy = 0 }: Asked): number | undefined {
  if (staleBy === 0 || !mayBeStale(query)) return undefined;
  return Math.max(versionOf(query) ?? 0, storage.version - staleBy, storage.log(kind).forgotten);
}

/** Which objects a request is about. */
export interface Selection {
  matches: (object: KubeObject) => boolean;
  /** The one name that can match, for `metadata.name=NAME`. */
  name: string | undefined;
  /** Nothing is left out. */
  all: boolean;
}

/** Reads both selectors of a query. @throws StatusError 400 for what cannot be read or is no field to select by */
export function selection(served: ServedKind, query: URLSearchParams): Selection {
  try {
    const labels = parseLabelSelector(query.get('labelSelector') ?? '');
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '').map((requirement) => ({
      ...requirement,
      field: served.at.selectable?.[requirement.field] ?? requirement.field,
    }));
    const readers = new Map(Object.entries(served.kind.selectable ?? {}));
    readers.set('metadata.name', (object) => object.metadata.name ?? '');
    if (served.kind.namespaced) readers.set('metadata.namespace', (object) => object.metadata.namespace ?? '');
    for (const { field } of fields) {
      if (!readers.has(field)) {
        // Kinds with selectable fields of their own have another message than those with metadata.name and metadata.namespace only.
        const plain = `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
        throw badRequest(served.kind.selectable === undefined ? plain : `field label not supported: ${field}`);
      }
    }
    const name = fields.find((requirement) => requirement.field === 'metadata.name' && requirement.operator === '=')?.value;
    return {
      name,
      all: labels.length === 0 && fields.length === 0,
      matches: (object) => matchesLabels(labels, object.metadata.labels) && matchesFields(fields, (field) => readers.get(field)?.(object)),
    };
  } catch (error) {
    if (error instanceof SelectorError) throw Object.assign(badRequest(error.message), { cause: error });
    throw error;
  }
}

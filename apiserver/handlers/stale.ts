import type { ApiRequest } from '../http/api-request.ts';
import type { Storage } from '../storage/storage.ts';
import { versionOf } from './versions.ts';

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

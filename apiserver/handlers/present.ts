import { apiVersion, type Column, columnsOf, type ServedKind } from '../kinds/kind.ts';
import { badRequest } from '../errors.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Format } from '../http/message.ts';
import type { Page } from './read.ts';
import type { WatchEvent } from './watch.ts';

/** Converts stored objects to the requested version and form: the object, its metadata or a table. */
export interface Presenter {
  object(object: KubeObject): unknown;
  list(page: Page): unknown;
  event(event: WatchEvent): unknown;
}

/** @param release - N of the server's release 1.N */
export function presenter(served: ServedKind, format: Format, query: URLSearchParams, release: number, now: () => number): Presenter {
  const columns = columnsOf(served.kind.columns, release);
  const typeMeta = { apiVersion: apiVersion(served.at), kind: served.kind.kind };
  const inVersion = (object: KubeObject): KubeObject => served.at.fromStored?.(object) ?? object;
  const whole = (object: KubeObject) => ({ kind: typeMeta.kind, apiVersion: typeMeta.apiVersion, ...inVersion(object) });
  const include = includeObject(query.get('includeObject'));
  let headers = true;
  const asTable = (objects: readonly KubeObject[], metadata: Record<string, unknown>) => {
    const made = table(columns, objects, metadata, { now: now(), metaVersion: format.metaVersion, include, headers, whole });
    headers = false;
    return made;
  };
  const object = (one: KubeObject): unknown => {
    switch (format.as) {
      case 'Table':
        return asTable([one], { resourceVersion: one.metadata.resourceVersion });
      case 'PartialObjectMetadata':
      case 'PartialObjectMetadataList':
        return partialMetadata(one, format.metaVersion);
      case undefined:
        return whole(one);
    }
  };
  return {
    object,
    list(page) {
      const metadata = listMetadata(page);
      if (format.as === 'Table') return asTable(page.objects, metadata);
      if (format.as !== undefined) {
        const items = page.objects.map((one) => partialMetadata(one, format.metaVersion));
        return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${format.metaVersion}`, metadata, items };
      }
      // As on a real server, items of a list have no apiVersion and kind.
      return { kind: `${typeMeta.kind}List`, apiVersion: typeMeta.apiVersion, metadata, items: page.objects.map(inVersion) };
    },
    event(event) {
      switch (event.type) {
        case 'ERROR':
          return { type: 'ERROR', object: event.error.status() };
        case 'BOOKMARK':
          return { type: 'BOOKMARK', object: bookmark(event, format.as === 'Table' ? asTable([], {}) : typeMeta) };
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED':
          return { type: event.type, object: object(event.object) };
      }
    },
  };
}

function bookmark(event: { version: number; initialEventsEnd: boolean }, shape: object): unknown {
  const metadata = { resourceVersion: String(event.version), creationTimestamp: null };
  return { ...shape, metadata: event.initialEventsEnd ? { ...metadata, annotations: { 'k8s.io/initial-events-end': 'true' } } : metadata };
}

function listMetadata(page: Page): Record<string, unknown> {
  return {
    resourceVersion: String(page.version),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

function includeObject(asked: string | null): IncludeObject {
  if (asked === null || asked === '') return 'Metadata';
  if (asked === 'None' || asked === 'Metadata' || asked === 'Object') return asked;
  throw badRequest(`includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`);
}

type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Only the metadata, as in rows of tables. */
function partialMetadata(object: KubeObject, metaVersion: string): Record<string, unknown> {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: object.metadata };
}

/**
 * `meta.k8s.io` Table: what `kubectl get` prints.
 * @param headers - false for all events of a watch but the first: no column definitions
 */
export function table(
  columns: readonly Column[],
  objects: readonly KubeObject[],
  metadata: Record<string, unknown>,
  options: { now: number; metaVersion: string; include: IncludeObject; headers: boolean; whole(object: KubeObject): unknown },
): Record<string, unknown> {
  const columnDefinitions = columns.map((column) => ({
    name: column.name,
    type: column.type ?? 'string',
    format: column.format ?? '',
    description: column.description,
    priority: column.wide === true ? 1 : 0,
  }));
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.metaVersion}`,
    metadata,
    columnDefinitions: options.headers ? columnDefinitions : [],
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.now)),
      ...(options.include === 'None'
        ? {}
        : { object: options.include === 'Object' ? options.whole(object) : partialMetadata(object, options.metaVersion) }),
    })),
  };
}

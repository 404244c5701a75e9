import type { KubeObject } from '../../kube/api/object.ts';
import type { Kind } from '../kinds/kind.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Only the metadata, as tables carry it. */
export function partialMetadata(object: KubeObject, metaVersion: string): Record<string, unknown> {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: object.metadata };
}

/**
 * `meta.k8s.io` Table: what `kubectl get` prints.
 * @param headers - without columns for all but the first event of a watch
 */
export function table(
  kind: Kind,
  objects: readonly KubeObject[],
  metadata: Record<string, unknown>,
  options: { now: number; metaVersion: string; include: IncludeObject; headers: boolean; whole(object: KubeObject): unknown },
): Record<string, unknown> {
  const columnDefinitions = kind.columns.map((column) => ({
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
      cells: kind.columns.map((column) => column.cell(object, options.now)),
      ...(options.include === 'None'
        ? {}
        : { object: options.include === 'Object' ? options.whole(object) : partialMetadata(object, options.metaVersion) }),
    })),
  };
}

import type { KubeObject } from '../../kube/api/object.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { badRequest } from '../status-error.ts';

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
        // Kinds with fields of their own word it in another way than those that have only the two of all.
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

import type { OwnerReference } from '../../kube/api/object.ts';

/** Whom a reference names, whichever of that name it is. */
export type Named = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

export function refersTo(ref: Named, { apiVersion, kind, name }: Named): boolean {
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name;
}

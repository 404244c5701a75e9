import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { ControllerRevision } from '../types.ts';

/**
 * What pods of the owner's newest revision carry as `controller-revision-hash`: for a StatefulSet the revision's name, for a DaemonSet its own label of that
 * name. An old template that is wanted again makes its revision the newest.
 * @param revisions - those of the owner and of others, in no order
 */
export function newestRevision(
  revisions: readonly Readonly<ControllerRevision>[],
  owner: { readonly kind: string; readonly uid: string },
): string | undefined {
  let newest: Readonly<ControllerRevision> | undefined;
  for (const revision of revisions)
    if (controllerOf(revision)?.uid === owner.uid && (newest === undefined || revision.revision > newest.revision)) newest = revision;
  return owner.kind === 'DaemonSet' ? newest?.metadata.labels?.['controller-revision-hash'] : newest?.metadata.name;
}

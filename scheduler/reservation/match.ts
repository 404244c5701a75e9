import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation } from './contract.ts';

/**
 * The node that a pod may be on alone, because it asks for it by name as pods of DaemonSets do.
 * @returns undefined when it may be on several, or on none
 */
export function pinnedTo({ pod }: PodInfo): string | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  let only: string | undefined;
  for (const { matchFields } of terms) {
    const name = matchFields?.find(({ key, operator, values }) => key === 'metadata.name' && operator === 'In' && values?.length === 1);
    const node = name?.values?.[0];
    if (node === undefined || (only !== undefined && only !== node)) return undefined;
    only = node;
  }
  return only;
}

/** Pods of a DaemonSet have a new name each time: the node says whom they succeed. */
export function isByNode({ owner }: Pick<Reservation, 'owner'>): boolean {
  return owner.kind === 'DaemonSet';
}

/**
 * Whether the pod is the one that the room is kept for: it has the same owner and, under the same name, is not the one that went. Only the reference to the
 * controller is compared, and of that the uid: nothing else of an owner's references tells its pods apart.
 */
export function isSuccessor(reservation: Reservation, pod: PodInfo): boolean {
  const { namespace, name, owner, oldUid, node } = reservation;
  if (pod.namespace !== namespace || pod.uid === oldUid) return false;
  if (!isByNode(reservation) && pod.name !== name) return false;
  if (controllerOf(pod.pod)?.uid !== owner.uid) return false;
  return !isByNode(reservation) || pinnedTo(pod) === node;
}

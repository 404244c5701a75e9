import type { Millis } from '../../../base/clock.ts';
import { toleratesTaint } from '../../../kube/api/taints.ts';
import type { DrainPolicy, Pod, PodRef } from './contract.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
/** A kubelet that is slow to report the end of a pod is not stuck yet. */
const TERMINATION_MARGIN_MS: Millis = 30_000;

/** What a drain does with a pod. */
export type PodDecision =
  | { pod: 'leave' }
  | { pod: 'evict'; ref: PodRef }
  /** `overdueMs`: how long it has been terminating beyond its grace period and a margin of 30 s; 0 while it is in time. */
  | { pod: 'terminating'; ref: PodRef; overdueMs: Millis }
  | { pod: 'block'; ref: PodRef; why: string };

/**
 * Left alone: pods of DaemonSets, whose controller ignores cordons; mirror pods, which are the kubelet's; pods that have ended; and pods that came
 * after the drain began because they tolerate the cordon: their owner would create them here again.
 * @param startedAt - of the drain; undefined: it has not begun
 */
export function decidePod(pod: Readonly<Pod>, policy: DrainPolicy, startedAt: Millis | undefined, now: Millis): PodDecision {
  const { metadata, spec, status } = pod;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return { pod: 'leave' };
  if (owner?.kind === 'DaemonSet') return { pod: 'leave' };
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return { pod: 'leave' };
  const ref = { namespace: metadata.namespace ?? '', name: metadata.name ?? '', uid: metadata.uid ?? '' };
  if (metadata.deletionTimestamp !== undefined) {
    // The time at which its grace period ends.
    const overdueMs = now - Date.parse(metadata.deletionTimestamp) - TERMINATION_MARGIN_MS;
    return { pod: 'terminating', ref, overdueMs: overdueMs > 0 ? overdueMs : 0 };
  }
  if (startedAt !== undefined && toleratesCordon(pod) && Date.parse(metadata.creationTimestamp ?? '') > startedAt) return { pod: 'leave' };
  if (owner === undefined && policy.unmanagedPods === 'Block') return { pod: 'block', ref, why: 'has no controller' };
  const hasEmptyDir = spec?.volumes?.some((volume) => volume.emptyDir !== undefined) === true;
  if (hasEmptyDir && policy.emptyDir === 'Block') return { pod: 'block', ref, why: 'has an emptyDir volume' };
  return { pod: 'evict', ref };
}

function toleratesCordon({ spec }: Readonly<Pod>): boolean {
  return spec?.tolerations?.some((toleration) => toleratesTaint(toleration, CORDON_TAINT)) === true;
}

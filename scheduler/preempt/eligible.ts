import type { PodInfo } from '../pod/pod-info.ts';

export interface EligibilityFacts {
  readonly pod: PodInfo;
  /** The pod's nominated node, if any. */
  readonly nominated:
    | {
        /** Whether preemption on that node could help, as the last attempt found. */
        readonly resolvable: boolean;
        /** Pods on that node; none when the node was deleted. */
        readonly pods: readonly PodInfo[];
        /** UIDs of victims whose deletion the cache does not show yet. @default none */
        readonly isVictim?: (pod: PodInfo) => boolean;
      }
    | undefined;
}

/** Condition of pods that are about to be terminated for a disruption, and its reason for preemption by a scheduler. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
export const PREEMPTED_BY_SCHEDULER = 'PreemptionByScheduler';

/** Why a pod may not preempt others, as users read it; undefined when it may. */
export function whyNotEligible({ pod, nominated }: EligibilityFacts): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  // On a nominated node that no preemption can make feasible the pod would wait in vain.
  if (nominated === undefined || !nominated.resolvable) return undefined;
  const { pods, isVictim = () => false } = nominated;
  const roomIsComing = pods.some((other) => other.priority < pod.priority && (isLeavingForOthers(other) || isVictim(other)));
  return roomIsComing ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

/** Whether the pod is terminating because a scheduler preempted it. */
function isLeavingForOthers({ terminating, pod }: PodInfo): boolean {
  return terminating && isTarget(pod);
}

/** Whether the pod has the condition already. */
export function isTarget({ status }: PodInfo['pod']): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: holds, reason }) => type === DISRUPTION_TARGET && holds === 'True' && reason === PREEMPTED_BY_SCHEDULER,
    ) ?? false
  );
}

import type { PodInfo } from '../pod/pod-info.ts';

export interface EligibilityFacts {
  readonly pod: PodInfo;
  /** The node it was nominated to before, if any. */
  readonly nominated:
    | {
        /** Whether taking pods away from that node could help it, as its last attempt found. */
        readonly resolvable: boolean;
        /** Pods on that node; none where it is gone. */
        readonly pods: readonly PodInfo[];
        /** Had to go for somebody's sake a moment ago, though the pod does not show it yet. @default none */
        readonly isVictim?: (pod: PodInfo) => boolean;
      }
    | undefined;
}

/** Condition of pods that have to go for somebody's sake, and its reason where that is a scheduler's preemption. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
export const PREEMPTED_BY_SCHEDULER = 'PreemptionByScheduler';

/** Why a pod may not make room for itself, as users read it; undefined when it may. */
export function whyNotEligible({ pod, nominated }: EligibilityFacts): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  // A nominated node that nothing can make fit would keep the pod waiting for nothing.
  if (nominated === undefined || !nominated.resolvable) return undefined;
  const { pods, isVictim = () => false } = nominated;
  const roomIsComing = pods.some((other) => other.priority < pod.priority && (isLeavingForOthers(other) || isVictim(other)));
  return roomIsComing ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

/** It is on its way out, and because a scheduler wanted its room. */
function isLeavingForOthers({ terminating, pod }: PodInfo): boolean {
  return terminating && isTarget(pod);
}

/** Whether somebody who preempts has said so on the pod already. */
export function isTarget({ status }: PodInfo['pod']): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: holds, reason }) => type === DISRUPTION_TARGET && holds === 'True' && reason === PREEMPTED_BY_SCHEDULER,
    ) ?? false
  );
}

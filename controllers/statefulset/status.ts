import type { StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import { conditionsDiffer, paceStatus, reaches } from '../common/status.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import type { StatusPlan } from '../common/reconcile.ts';
import type { Action } from './actions.ts';
import type { SetFacts } from './observe.ts';
import type { Plan } from './plan.ts';
import type { Slots } from './places.ts';
import type { StatefulSet } from '../common/types.ts';

/** Numbers of the set's pods, as observed. */
export interface Counts {
  replicas: number;
  ready: number;
  available: number;
  /** Pods of the current and of the update revision; both when these are the same. Without terminating pods. */
  current: number;
  updated: number;
}

export function countsOf({ history, currentRevision }: SetFacts, { wanted, condemned }: Slots): Counts {
  const counts: Counts = { replicas: 0, ready: 0, available: 0, current: 0, updated: 0 };
  const [current, update] = [currentRevision.metadata.name, history.current.metadata.name];
  for (const { pod, health, revision } of [...wanted, ...condemned]) {
    if (pod === undefined) continue;
    counts.replicas += 1;
    if (health.runningReady) counts.ready += 1;
    if (health.runningReady && health.available) counts.available += 1;
    if (health.terminating) continue;
    if (revision === current) counts.current += 1;
    if (revision === update) counts.updated += 1;
  }
  return counts;
}

/** Whether a pod of the current revision is deleted to be updated: it no longer counts as current. */
export function deletesCurrentPod({ currentRevision }: SetFacts, action: Action): boolean {
  if (action.do !== 'delete' || (action.reason !== 'update' && action.reason !== 'forced')) return false;
  return action.pod.metadata.labels?.[HASH_LABEL] === currentRevision.metadata.name;
}

/** The status to write after the plan was executed. */
export function planStatus(
  facts: SetFacts,
  plan: Pick<Plan, 'counts' | 'conditions' | 'groups'>,
  { removed }: { removed: number },
): StatusPlan<StatefulSet> {
  const { rules, memory } = facts;
  const { places, update } = rules;
  const status = statusOf(facts, plan, removed);
  const has = rules.set.status;
  // Without `rollingUpdate`, the revision of the next pod depends on currentReplicas.
  const isRead = update.type === 'RollingUpdate' && update.partition === undefined;
  const reached = reaches(places.length, [
    [has?.replicas, status.replicas],
    [has?.readyReplicas, plan.counts.ready],
    [has?.updatedReplicas, plan.counts.updated],
    // API servers before 1.22 drop the field.
    [has?.availableReplicas ?? plan.counts.available, plan.counts.available],
  ]);
  const busy = plan.groups.length > 0;
  return paceStatus<StatefulSet>(status, { change: statusChange(has, status), reached: reached || isRead, busy }, memory);
}

/**
 * The status as it should be: it describes the state before the plan was executed, as upstream does.
 * @param removed - number of pods that were deleted since and for which {@link deletesCurrentPod} is true: these are subtracted
 */
export function statusOf(
  { rules, history, currentRevision }: SetFacts,
  { counts, conditions }: Pick<Plan, 'counts' | 'conditions'>,
  removed: number,
): StatefulSetStatus {
  const { set, places } = rules;
  const { replicas, ready, available, updated } = counts;
  const updateRevision = history.current.metadata.name ?? '';
  // With OnDelete too, as upstream since 1.37: before, currentRevision stayed outdated forever.
  const complete = updated === ready && ready === replicas && replicas === places.length;
  const { generation } = set.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas,
    readyReplicas: ready,
    availableReplicas: available,
    // Pods may be of a third revision: the count never goes below 0.
    currentReplicas: complete ? updated : Math.max(0, counts.current - removed),
    updatedReplicas: updated,
    currentRevision: complete ? updateRevision : (currentRevision.metadata.name ?? ''),
    updateRevision,
    collisionCount: history.collisionCount ?? 0,
    ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
  };
}

const NUMBERS = ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas'] as const;

/** What the write would change; `numbers` includes messages and times of conditions. Servers omit zeros, but from 1.22 on not in `availableReplicas`. */
export function statusChange(has: StatefulSetStatus | undefined, wants: StatefulSetStatus): 'nothing' | 'numbers' | 'more' {
  if (has === undefined || (has.observedGeneration ?? 0) < (wants.observedGeneration ?? 0)) return 'more';
  if (has.currentRevision !== wants.currentRevision || has.updateRevision !== wants.updateRevision) return 'more';
  if ((has.collisionCount ?? 0) !== (wants.collisionCount ?? 0)) return 'more';
  const conditions = conditionsDiffer(has.conditions, wants.conditions);
  if (conditions === 'more') return 'more';
  const available = has.availableReplicas !== undefined && has.availableReplicas !== wants.availableReplicas;
  const numbers = NUMBERS.some((number) => (has[number] ?? 0) !== (wants[number] ?? 0));
  return available || numbers || conditions === 'words' ? 'numbers' : 'nothing';
}

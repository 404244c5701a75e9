import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import type { Millis } from '../../base/clock.ts';
import { type Condition, conditionsDiffer, paceStatus, type Progress, progressOf, reaches } from '../common/status.ts';
import type { StatusPlan, WakeUp } from '../common/reconcile.ts';
import type { Counts } from './node-state.ts';
import type { DaemonSet } from '../common/types.ts';
import { whyNotAvailable } from '../common/pods.ts';
import type { SetFacts } from './observe.ts';
import { limitsOf } from './update.ts';
import { nameOf } from './pods.ts';

/**
 * The status as it should be.
 * @param observed - this generation has been acted on; false keeps the old observedGeneration
 * @param conditions - all of them, including those of other writers
 */
export function statusOf(
  set: Readonly<DaemonSet>,
  counts: Counts,
  { observed, conditions }: { observed: boolean; conditions: readonly Condition[] },
): DaemonSetStatus {
  const { collisionCount, observedGeneration } = set.status ?? {};
  const generation = observed ? set.metadata.generation : observedGeneration;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    currentNumberScheduled: counts.current,
    desiredNumberScheduled: counts.desired,
    numberMisscheduled: counts.misscheduled,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
  };
}

const NUMBERS = [
  'currentNumberScheduled',
  'desiredNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** What the write would change; `numbers` includes messages and times of conditions. The API server omits zeros, except in the first four numbers. */
export function statusChange(has: DaemonSetStatus | undefined, wants: DaemonSetStatus): 'nothing' | 'numbers' | 'more' {
  if ((has?.observedGeneration ?? 0) < (wants.observedGeneration ?? 0)) return 'more';
  const conditions = conditionsDiffer(has?.conditions, wants.conditions);
  if (conditions === 'more') return 'more';
  const numbers = NUMBERS.some((number) => (has?.[number] ?? 0) !== (wants[number] ?? 0));
  return numbers || conditions === 'words' || has === undefined ? 'numbers' : 'nothing';
}

/**
 * The status to write after pods were created and deleted: it describes the state before that, as upstream does, and the events of these pods enqueue
 * the next reconcile. While creations or deletions are not in the cache yet, the generation is not reported as observed.
 */
export function planStatus(facts: SetFacts): StatusPlan<DaemonSet> {
  const { rules, summary, memory } = facts;
  const pendingMs = pendingMsOf(facts);
  const { conditions, deadlineIn } = planProgress({ ...facts, pendingMs });
  const wakeUps: WakeUp[] = deadlineIn === undefined ? [] : [{ requeueAfter: deadlineIn, why: 'the progress deadline' }];
  const status = statusOf(rules.set, summary.counts, { observed: pendingMs === 0, conditions });
  const has = rules.set.status;
  const { desired, current, updated, ready, available } = summary.counts;
  const paced = paceStatus<DaemonSet>(
    status,
    {
      change: statusChange(has, status),
      reached: reaches(desired, [
        [has?.currentNumberScheduled, current],
        [has?.updatedNumberScheduled, updated],
        [has?.numberReady, ready],
        [has?.numberAvailable, available],
      ]),
      // Not while pods are being created: only the status write shows that a set was deleted while the cache still has it.
      busy: pendingMs > 0,
    },
    memory,
  );
  return { ...paced, wakeUps: [...wakeUps, ...paced.wakeUps] };
}

/** Ms to wait at most until the cache shows the last reconcile's writes, or the revision labels that this one writes to pods; 0: nothing is pending. */
export function pendingMsOf({ pendingMs, history }: SetFacts): Millis {
  return history.steps.some((step) => step.do === 'relabel') ? Math.max(pendingMs, 1_000) : pendingMs;
}

/** The progress of a set's rollout, for people and scripts that wait for it. */
function planProgress(facts: SetFacts): Progress {
  const { rules, summary, now } = facts;
  const { desired, updated, available } = summary.counts;
  return progressOf({
    has: rules.set.status?.conditions ?? [],
    now,
    deadlineMs: rules.optIns.progressDeadlineMs,
    state: stateOf(facts),
    message: `${updated} of ${desired} pods are updated, ${available} available`,
    moved: hasMoved(facts),
    blocker: () => blocker(facts),
  });
}

function stateOf({ rules, summary }: SetFacts): 'complete' | 'paused' | 'updating' {
  const { desired, updated, available } = summary.counts;
  if (rules.optIns.paused) return 'paused';
  const kept = rules.optIns.partition !== undefined || rules.optIns.rolloutNodes !== undefined;
  const due = kept ? Math.min(updated, desired) : desired;
  const mayGoOn = kept && limitsOf(rules, summary).updatable > 0 && hasEligible({ rules, summary });
  const complete = rules.update.type === 'OnDelete' ? available >= desired : updated >= due && available >= desired && !mayGoOn;
  return complete ? 'complete' : 'updating';
}

/** Whether an outdated node may be updated within the limits of the rollout. */
function hasEligible({ rules, summary }: Pick<SetFacts, 'rules' | 'summary'>): boolean {
  const { mayUpdate } = limitsOf(rules, summary);
  for (const state of summary.pendingNodes.values()) if (state.old !== undefined && mayUpdate(state)) return true;
  return false;
}

/** More pods are updated or available than the status reports, or there is new work. */
function hasMoved({ rules, summary, pendingMs }: SetFacts): boolean {
  const { status, metadata } = rules.set;
  return (
    // While the last pass is pending, the generation is not reported as observed: it would look new at every reconcile.
    (pendingMs === 0 && (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) ||
    summary.counts.updated > (status?.updatedNumberScheduled ?? 0) ||
    summary.counts.available > (status?.numberAvailable ?? 0) ||
    summary.counts.desired !== (status?.desiredNumberScheduled ?? 0)
  );
}

/** The first node, by name, that keeps the rollout waiting. */
function blocker({ rules, summary }: SetFacts): { reason: string; message: string } {
  const running = summary.inOrder().filter(({ nodePods }) => nodePods.known?.decision.run === true);
  const without = running.filter(({ counts }) => counts.available === 0);
  // During a surge every node may have an available pod: an old one, which waits for its successor.
  const waiting = without.length > 0 ? without : running.filter(({ fresh, freshAvailable }) => fresh !== undefined && !freshAvailable);
  const [first] = waiting;
  if (first === undefined) {
    const reason = rules.optIns.problems.length > 0 ? 'InvalidAnnotation' : 'NotUpdated';
    return { reason, message: rules.optIns.problems.join('; ') || 'old pods are available and are not replaced' };
  }
  const { nodePods } = first;
  const more = waiting.length > 1 ? ` (and ${waiting.length - 1} more nodes)` : '';
  // The new pod may be available while the pod that counts is an old one that is not deleted yet.
  const pod = (first.freshAvailable ? undefined : first.fresh) ?? first.old ?? nodePods.pods[0];
  if (pod === undefined) return { reason: 'NoPod', message: `node ${nodePods.node} has no pod${more}` };
  const { reason, text } = whyNotAvailable(pod);
  return { reason, message: `pod ${nameOf(pod)} on node ${nodePods.node}: ${text}${more}` };
}

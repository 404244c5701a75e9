import type { StatefulSetStatus } from 'kubernetes-types/apps/v1.js';
import type { WakeUp } from '../common/reconcile.ts';
import { progressOf } from '../common/progress.ts';
import { statefulSetHistory, type Revision } from '../common/history/contract.ts';
import { planTruncation } from '../common/history/plan.ts';
import type { Action, Waits, Work } from './actions.ts';
import type { SetFacts } from './facts.ts';
import { planGrowth } from './growth.ts';
import { planOrdered } from './ordered.ts';
import { planParallel } from './parallel.ts';
import { planRecreate, isOld } from './update.ts';
import { slotsOf, type Slots } from './slots.ts';
import { countsOf, statusChange, statusOf, type Counts } from './status.ts';

/** What is to be done about one set, in this order; claims and history, which are in the facts, come first. */
export interface Plan {
  groups: readonly (readonly Action[])[];
  /** What keeps the set from going on; undefined: nothing. */
  waits: Waits | undefined;
  /** Claims that cannot grow, and why: for people. */
  refused: readonly { pvc: string; why: string }[];
  counts: Counts;
  /** Of the status that comes last. */
  conditions: ReturnType<typeof progressOf>['conditions'];
  truncate: readonly Readonly<Revision>[];
  wakeUps: readonly WakeUp[];
}

/** The whole decision on one set. One that is being deleted gets its status and nothing else: its pods are the garbage collector's. */
export function plan(facts: SetFacts): Plan {
  const { rules, now, history, currentRevision } = facts;
  const slots = slotsOf(facts);
  const all = [...slots.wanted, ...slots.condemned];
  const counts = countsOf(facts, slots);
  const leaving = rules.set.metadata.deletionTimestamp !== undefined;
  const growth =
    rules.optIns.expandClaims && !leaving ? planGrowth(rules, facts.allPvcs(), facts.storageClass) : { write: [], refused: [] };
  const work = leaving ? nothing : workOn(facts, slots);
  const progress = progressOf({
    has: rules.set.status?.conditions ?? [],
    now,
    deadlineMs: rules.optIns.progressDeadlineMs,
    state: stateOf(facts, slots, counts),
    message: `${counts.updated} of ${rules.places.length} pods are updated, ${counts.available} available`,
    moved: hasMoved(facts, counts),
    blocker: () => blockerOf(work.waits),
  });
  const live = new Set(
    [history.current.metadata.name, currentRevision.metadata.name, ...all.map(({ revision }) => revision)].filter(
      (name) => name !== undefined,
    ),
  );
  const wakeUps = all.flatMap(({ health }) =>
    health.availableAt === undefined || health.terminating
      ? []
      : [{ requeueAfter: health.availableAt - now, why: 'a pod will be available' }],
  );
  if (progress.deadlineIn !== undefined) wakeUps.push({ requeueAfter: progress.deadlineIn, why: 'the progress deadline' });
  return {
    // Growth comes last: what the server refuses to enlarge keeps no pod from being made.
    groups: [...work.groups, growth.write.map((pvc): Action => ({ do: 'grow', pvc }))].filter((group) => group.length > 0),
    waits: work.waits,
    refused: growth.refused,
    counts,
    conditions: progress.conditions,
    truncate: leaving ? [] : planTruncation(history, live, rules.historyLimit, statefulSetHistory),
    wakeUps,
  };
}

/** @param removed - pods of the current revision that were deleted to make room for others */
export function finalStatus(
  facts: SetFacts,
  { counts, conditions }: Plan,
  removed: number,
): { status: StatefulSetStatus; change: ReturnType<typeof statusChange> } {
  const status = statusOf(facts, counts, { removed, conditions });
  return { status, change: statusChange(facts.rules.set.status, status) };
}

const nothing: Work = { groups: [], waits: undefined };

function workOn(facts: SetFacts, slots: Slots): Work {
  return planRecreate(facts, slots) ?? (facts.rules.parallel ? planParallel(facts, slots) : planOrdered(facts, slots));
}

function stateOf(facts: SetFacts, { wanted, condemned }: Slots, counts: Counts): 'complete' | 'paused' | 'updating' {
  const { rules } = facts;
  const { update, places } = rules;
  const filled = counts.available >= places.length && condemned.length === 0;
  const due =
    update.type === 'RollingUpdate' ? wanted.filter(({ at }) => at >= (update.partition ?? 0)) : update.type === 'OnDelete' ? [] : wanted;
  if (filled && !due.some((slot) => isOld(facts, slot))) return 'complete';
  return rules.optIns.paused ? 'paused' : 'updating';
}

/** More is updated or available than at the last look, or there is something new to be done. */
function hasMoved({ rules: { set } }: SetFacts, counts: Counts): boolean {
  const { status, metadata } = set;
  return (
    (status?.observedGeneration ?? 0) < (metadata.generation ?? 0) ||
    counts.updated > (status?.updatedReplicas ?? 0) ||
    counts.ready > (status?.readyReplicas ?? 0) ||
    counts.replicas < (status?.replicas ?? 0) ||
    counts.available > (status?.availableReplicas ?? Infinity)
  );
}

function blockerOf(waits: Waits | undefined): { reason: string; message: string } {
  if (waits === undefined) return { reason: 'NotUpdated', message: 'old pods are available and are not replaced' };
  return { reason: waits.reason, message: `pod ${waits.object}: ${waits.detail}` };
}

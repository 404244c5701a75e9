import { atOnce, type InTurns } from '../../base/waiting.ts';
import type { Pod } from '../common/types.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { statefulSets } from '../../kube/api/object.ts';
import { identityOf } from '../../kube/api/ordinals.ts';
import type { WakeUp, Warnings } from '../common/reconcile.ts';
import { availableWakeUp } from '../common/pods.ts';
import { progressOf } from '../common/status.ts';
import { type Revision, statefulSetHistory } from '../common/history/contract.ts';
import { currentRevision, planHistory, planTruncation } from '../common/history/plan.ts';
import type { Action, Waits, Work } from './actions.ts';
import type { Observed, SetFacts } from './observe.ts';
import { planGrowth } from './growth.ts';
import { planOrdered, planParallel } from './manage.ts';
import { isOld, planRecreate, recreateReport, type Unavailability, unavailabilityOf } from './update.ts';
import { type Slots, slotsInTurns } from './places.ts';
import { refusal } from './rules.ts';
import { type Counts, countsOf } from './status.ts';

/**
 * Which pods and revisions are the set's, and which of its revisions are the current and the update revision: orphans that the selector matches are
 * adopted, pods that it no longer matches are released, and the history is put in order. The history of a terminating set is not changed. Pure.
 */
export function planOwnership({ pods, revisions, ...observed }: Observed): SetFacts {
  const { rules } = observed;
  const { set, selector = [] } = rules;
  const selected = (object: Readonly<Pod> | Readonly<Revision>): boolean =>
    selector.length > 0 && matchesLabels(selector, object.metadata.labels);
  // The name must match too: a pod that two sets select belongs to the one in its name.
  const ours = (pod: Readonly<Pod>): boolean => identityOf(pod.metadata.name ?? '')?.parent === rules.name && selected(pod);
  const adoption = { pods: planClaim(set, pods, ours), revisions: planClaim(set, revisions, selected) };
  const own = [...adoption.revisions.keep, ...adoption.revisions.adopt];
  const history = planHistory(
    { owner: set, template: rules.template, collisionCount: set.status?.collisionCount, revisions: own, pods: [] },
    statefulSets,
    statefulSetHistory,
  );
  return {
    ...observed,
    adoption,
    history: set.metadata.deletionTimestamp === undefined ? history : { ...history, steps: [] },
    currentRevision: currentRevision(own, set.status?.currentRevision, history.current),
  };
}

/** Max claims that cannot be expanded that events name; far fewer events about one set are sent. */
const MAX_REFUSED = 500;

/** What to do for one set once its ownership is settled, in this order; the status is written after it. */
export interface Plan {
  groups: readonly (readonly Action[])[];
  /** What the set waits for; undefined: nothing. */
  waits: Waits | undefined;
  /** Claims that cannot be expanded, and why, for users. */
  refused: readonly { pvc: string; why: string }[];
  warnings: readonly Warnings[];
  counts: Counts;
  /** For metrics; undefined: no limit applies. */
  unavailability: Unavailability | undefined;
  /** For the status, which is written last. */
  conditions: ReturnType<typeof progressOf>['conditions'];
  truncate: readonly Readonly<Revision>[];
  wakeUps: readonly WakeUp[];
}

export const plan = (facts: SetFacts): Plan => atOnce(planInTurns(facts));

/** What to do about pods, claims and old revisions. A terminating set gets its status and nothing else: the garbage collector deletes its pods. */
export function* planInTurns(facts: SetFacts): InTurns<Plan> {
  const { rules, now, history, currentRevision } = facts;
  const slots = yield* slotsInTurns(facts);
  yield;
  const all = [...slots.wanted, ...slots.condemned];
  const counts = countsOf(facts, slots);
  yield;
  const terminating = rules.set.metadata.deletionTimestamp !== undefined;
  const growth =
    rules.optIns.expandClaims && !terminating ? yield* planGrowth(rules, facts.allPvcs(), facts.storageClass) : { write: [], refused: [] };
  const recreate = terminating ? undefined : yield* planRecreate(facts, slots);
  const work = terminating ? nothing : (recreate ?? (yield* workOn(facts, slots)));
  yield;
  const report = rules.update.type === 'Recreate' && !terminating ? recreateReport(facts, counts, recreate) : undefined;
  const progress = progressOf({
    has: rules.set.status?.conditions ?? [],
    now,
    deadlineMs: rules.optIns.progressDeadlineMs,
    state: stateOf(facts, slots, counts),
    message: `${counts.updated} of ${rules.places.length} pods are updated, ${counts.available} available`,
    moved: hasMoved(facts, counts),
    blocker: () => blockerOf(work.waits),
  });
  yield;
  const live = new Set(
    [history.current.metadata.name, currentRevision.metadata.name, ...all.map(({ revision }) => revision)].filter(
      (name) => name !== undefined,
    ),
  );
  const wakeUps = all.flatMap(({ health }) =>
    health.availableAt === undefined || health.terminating ? [] : [availableWakeUp(health.availableAt, now, rules.minReadyMs)],
  );
  if (progress.deadlineIn !== undefined) wakeUps.push({ requeueAfter: progress.deadlineIn, why: 'the progress deadline' });
  return {
    // Growth comes last: a claim that the server does not expand must not keep pods from being created.
    groups: [...work.groups, growth.write.map((pvc): Action => ({ do: 'grow', pvc }))].filter((group) => group.length > 0),
    waits: work.waits,
    refused: growth.refused,
    warnings: [
      { about: 'claims', events: growth.refused.slice(0, MAX_REFUSED).map(refusal) },
      { about: 'recreate', events: report?.events ?? [] },
    ],
    counts,
    unavailability: terminating ? undefined : unavailabilityOf(facts, slots),
    // With the deadline annotation, the conditions of `progress` say more.
    conditions:
      rules.optIns.progressDeadlineMs === undefined ? [...progress.conditions, ...(report?.conditions ?? [])] : progress.conditions,
    truncate: terminating ? [] : planTruncation(history, live, rules.historyLimit, statefulSetHistory),
    wakeUps,
  };
}

const nothing: Work = { groups: [], waits: undefined };

function workOn(facts: SetFacts, slots: Slots): InTurns<Work> {
  return facts.rules.parallel ? planParallel(facts, slots) : planOrdered(facts, slots);
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

/** More pods are updated or available than the status reports, or there is new work. */
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

import type { InTurns } from '../../base/waiting.ts';
import { resolveIntOrPercent } from '../../kube/api/quantity.ts';
import { type Action, type Waits, waitsFor, type Work } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { isUnavailable, type Slot, type Slots } from './places.ts';
import type { Pod } from '../common/types.ts';
import { rfc3339 } from '../../base/clock.ts';
import type { SetEvent } from '../common/events.ts';
import type { Condition } from '../common/status.ts';
import { condemnedOwners } from './slot-actions.ts';
import type { Counts } from './status.ts';

export interface Update {
  actions: Action[];
  waits: Waits | undefined;
}

const nothing: Update = { actions: [], waits: undefined };

/** Outdated pods to delete; their places are filled once they are gone. @param deleted - pods that this reconcile deletes already */
export function planUpdate(facts: SetFacts, slots: Slots, deleted: ReadonlySet<Readonly<Pod>>): Update {
  const { update, optIns } = facts.rules;
  if (update.type !== 'RollingUpdate') return nothing;
  const { partition = 0 } = update;
  const { unlisted } = slots;
  // Of the empty places that are not listed only the highest matters: it is above the others.
  const listed = unlisted === undefined ? slots.wanted : [...slots.wanted, unlisted.top].toSorted((a, b) => a.at - b.at);
  const places = listed
    .filter(({ at }) => at >= partition)
    .toReversed()
    .map((slot) => (slot.pod !== undefined && deleted.has(slot.pod) ? { ...slot, health: { ...slot.health, terminating: true } } : slot));
  const old = places.filter((slot) => isOld(facts, slot));
  if (old.length === 0) return nothing;
  if (optIns.paused || optIns.problems.length > 0) {
    const why = optIns.paused ? 'dkc.dev/paused stops updates' : `invalid annotation: ${optIns.problems.join('; ')}`;
    return { actions: [], waits: { object: old[0]?.name ?? '', reason: 'paused', detail: `of an old revision; ${why}` } };
  }
  if (update.maxUnavailable === undefined) return oneByOne(facts, places);
  const budget = Math.max(0, budgetOf(facts) - unavailableOf(slots, deleted));
  return facts.rules.parallel ? manyAtOnce(facts, places, budget) : manyInOrder(facts, places, budget);
}

/**
 * From the highest ordinal down to the partition: deletes the first outdated pod, healthy or not; waits at a pod that is not available yet.
 */
function oneByOne(facts: SetFacts, places: readonly Slot[]): Update {
  for (const slot of places) {
    if (isOld(facts, slot) && !slot.health.terminating) return { actions: [removal(slot)], waits: waitsFor(slot, 'updating') };
    if (isUnavailable(slot)) return { actions: [], waits: waitsFor(slot) };
  }
  return nothing;
}

/** Deletes as many at once as may be unavailable; then none before all are available again, since they are created one by one. */
function manyInOrder(facts: SetFacts, places: readonly Slot[], budget: number): Update {
  const candidates = places.filter((slot) => isOld(facts, slot) && !slot.health.terminating);
  return chosen(candidates.slice(0, budget), places);
}

/** Deletes unavailable outdated pods whatever the budget, since nothing is lost: a pod that never becomes ready must not stop its own replacement. */
function manyAtOnce(facts: SetFacts, places: readonly Slot[], budget: number): Update {
  const candidates = places.filter((slot) => isOld(facts, slot) && !slot.health.terminating);
  const broken = candidates.filter(isUnavailable);
  const available = candidates.filter((slot) => !isUnavailable(slot));
  return chosen([...broken, ...available.slice(0, budget)], places);
}

function chosen(slots: readonly Slot[], places: readonly Slot[]): Update {
  const [first] = slots;
  const waiting = places.find(isUnavailable);
  return { actions: slots.map(removal), waits: first === undefined ? waiting && waitsFor(waiting) : waitsFor(first, 'updating') };
}

/** Places without an available pod, those below the partition too. */
function unavailableOf({ wanted, unlisted }: Slots, deleted: ReadonlySet<Readonly<Pod>>): number {
  const is = (slot: Slot): boolean => isUnavailable(slot) || (slot.pod !== undefined && deleted.has(slot.pod));
  return wanted.filter(is).length + (unlisted?.count ?? 0);
}

/** How many pods of a set may be unavailable while it is updated, and how many are. */
export interface Unavailability {
  max: number;
  now: number;
}

/** @returns undefined when pods are not replaced one after the other, with OnDelete and Recreate */
export function unavailabilityOf(facts: SetFacts, slots: Slots): Unavailability | undefined {
  if (facts.rules.update.type !== 'RollingUpdate') return undefined;
  return { max: budgetOf(facts), now: unavailableOf(slots, new Set()) };
}

/** A count, or a share of the replicas, rounded down; 1 at least. */
function budgetOf({ rules: { update, places } }: SetFacts): number {
  const asked = update.type === 'RollingUpdate' ? resolveIntOrPercent(update.maxUnavailable, places.length, { round: 'down' }) : undefined;
  return Math.max(1, asked ?? 1);
}

export function isOld({ history }: SetFacts, { pod, revision }: Slot): boolean {
  return pod !== undefined && revision !== history.current.metadata.name;
}

function removal({ pod }: Slot): Action {
  if (pod === undefined) throw new TypeError('a place without a pod has none to delete');
  return { do: 'delete', pod, reason: 'update' };
}

/**
 * The strategy Recreate: all pods of old revisions are deleted at once, those without a place too, and no pod is created before they are gone.
 * @returns undefined when there is no such pod
 */
export function* planRecreate(facts: SetFacts, slots: Slots): InTurns<Work | undefined> {
  const { optIns, update } = facts.rules;
  if (update.type !== 'Recreate' || optIns.paused || optIns.problems.length > 0) return undefined;
  const old = [...slots.wanted, ...slots.condemned].filter((slot) => isOld(facts, slot));
  const [first] = old;
  if (first === undefined) return undefined;
  const actions = old.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.terminating ? [] : [{ do: 'delete', pod, reason: 'recreate' }],
  );
  // The claims of a pod without a place may be deleted with it: their owners must be written while the pod exists.
  const owners = yield* condemnedOwners(facts, slots);
  return { groups: [owners, actions], waits: waitsFor(first, 'recreating') };
}

const IN_PROGRESS = 'RecreateInProgress';
const COMPLETE = 'RecreateComplete';
const messages = {
  [IN_PROGRESS]: 'pods of old revisions are deleted; pods of the update revision are created when they are gone',
  [COMPLETE]: 'all pods are of the update revision',
};

/** What users see of a set with the strategy Recreate. */
interface RecreateReport {
  /** `Progressing`, or none before there is anything to report. */
  conditions: readonly Condition[];
  events: readonly SetEvent[];
}

/**
 * The condition `Progressing` and the event `RecreateStarted`, as upstream has them since 1.37. Pure.
 *
 * | pods | Progressing |
 * | --- | --- |
 * | of old revisions are deleted, or terminating | True, RecreateInProgress; the event, unless the condition was there |
 * | all exist and are of the update revision | True, RecreateComplete |
 * | else | as it was |
 * @param work - what {@link planRecreate} plans
 * @see https://kep.k8s.io/3541
 */
export function recreateReport({ rules, now }: Pick<SetFacts, 'rules' | 'now'>, counts: Counts, work: Work | undefined): RecreateReport {
  const before = rules.set.status?.conditions?.find(
    ({ type, reason }) => type === 'Progressing' && (reason === IN_PROGRESS || reason === COMPLETE),
  );
  const complete = counts.updated >= rules.places.length && counts.replicas === counts.updated;
  if (work === undefined && !complete) return { conditions: before === undefined ? [] : [before], events: [] };
  const reason = work === undefined ? COMPLETE : IN_PROGRESS;
  const lastTransitionTime = before?.lastTransitionTime ?? rfc3339(now);
  const started = reason === IN_PROGRESS && before?.reason !== IN_PROGRESS;
  return {
    conditions: [{ type: 'Progressing', status: 'True', reason, message: messages[reason], lastTransitionTime }],
    events: started ? [{ type: 'Normal', reason: 'RecreateStarted', message: 'Deleting all pods for Recreate update' }] : [],
  };
}

import { resolveIntOrPercent } from '../../kube/api/int-or-percent.ts';
import { type Action, type Waits, waitsFor } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { isUnavailable, type Slot, type Slots } from './slots.ts';
import type { Pod } from './types.ts';

export interface Update {
  actions: Action[];
  waits: Waits | undefined;
}

const nothing: Update = { actions: [], waits: undefined };

/** Old pods to delete; their places are filled again when they are deleted. @param gone - pods that this reconcile deletes already */
export function planUpdate(facts: SetFacts, slots: Slots, gone: ReadonlySet<Readonly<Pod>>): Update {
  const { update, optIns } = facts.rules;
  if (update.type !== 'RollingUpdate') return nothing;
  const { partition = 0 } = update;
  const { unlisted } = slots;
  // Of places that have no pod and are not listed the highest will do: it is above all others.
  const listed = unlisted === undefined ? slots.wanted : [...slots.wanted, unlisted.top].toSorted((a, b) => a.at - b.at);
  const places = listed
    .filter(({ at }) => at >= partition)
    .toReversed()
    .map((slot) => (slot.pod !== undefined && gone.has(slot.pod) ? { ...slot, health: { ...slot.health, terminating: true } } : slot));
  const old = places.filter((slot) => isOld(facts, slot));
  if (old.length === 0) return nothing;
  if (optIns.paused || optIns.problems.length > 0) {
    const why = optIns.paused ? 'dkc.dev/paused stops updates' : `invalid annotation: ${optIns.problems.join('; ')}`;
    return { actions: [], waits: { object: old[0]?.name ?? '', reason: 'paused', detail: `of an old revision; ${why}` } };
  }
  if (update.maxUnavailable === undefined) return oneByOne(facts, places);
  const all = [...listed.filter(({ at }) => at < partition), ...places];
  const unavailable = all.filter(isUnavailable).length + (unlisted === undefined ? 0 : unlisted.count - 1);
  const budget = Math.max(0, budgetOf(facts) - unavailable);
  return facts.rules.parallel ? manyAtOnce(facts, places, budget) : manyInOrder(facts, places, budget);
}

/**
 * From the highest place down to the partition: the first pod of an old revision goes, well or not; one that is not available yet is waited for.
 */
function oneByOne(facts: SetFacts, places: readonly Slot[]): Update {
  for (const slot of places) {
    if (isOld(facts, slot) && !slot.health.terminating) return { actions: [removal(slot)], waits: waitsFor(slot, 'updating') };
    if (isUnavailable(slot)) return { actions: [], waits: waitsFor(slot) };
  }
  return nothing;
}

/** As many at once as may be unavailable; then none before all are available again, since they come back one by one. */
function manyInOrder(facts: SetFacts, places: readonly Slot[], budget: number): Update {
  const candidates = places.filter((slot) => isOld(facts, slot) && !slot.health.terminating);
  return chosen(candidates.slice(0, budget), places);
}

/** Old pods that are not available go whatever the budget, for nothing is lost by it: one that never gets ready must not stop its own replacement. */
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

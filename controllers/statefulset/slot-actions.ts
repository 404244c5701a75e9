import type { InTurns } from '../../base/waiting.ts';
import { templateOf } from '../common/history/revision.ts';
import type { Action } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { RESERVED_ORDINALS } from './rules.ts';
import { hasIdentity, hasStorage, isStale, planRetention, planStorage, repaired } from './storage.ts';
import { podsInStep, type Slot, type Slots } from './places.ts';
import type { PodTemplate, Pvc } from '../common/types.ts';

/**
 * Whether a new pod is of the current revision. `at` counts places from the first, without reserved ones.
 *
 * | strategy | place | revision |
 * | --- | --- | --- |
 * | RollingUpdate | below the partition | current |
 * | RollingUpdate | else | update |
 * | RollingUpdate without `rollingUpdate` | below `status.currentReplicas` | current |
 * | RollingUpdate without `rollingUpdate` | else | update |
 * | OnDelete, Recreate | any | update |
 */
function isOfCurrent({ rules }: SetFacts, at: number): boolean {
  const { update, set } = rules;
  if (update.type !== 'RollingUpdate') return false;
  return at < (update.partition ?? set.status?.currentReplicas ?? 0);
}

/**
 * Creates the pod of an empty place, with its claims.
 * @returns the action, or the obstacle. `stale-claim`: a claim is about to be deleted with its former pod, and must be gone first; `unknown-place`: the
 * annotation that reserves ordinals is invalid, and may reserve this one
 */
export function creation(facts: SetFacts, slot: Slot): Action | 'stale-claim' | 'unknown-place' {
  const { rules, history, currentRevision, pvc } = facts;
  if (rules.optIns.problems.some((problem) => problem.startsWith(RESERVED_ORDINALS))) return 'unknown-place';
  if (isStale(rules, slot.pod, slot.ordinal, pvc)) return 'stale-claim';
  const { create, terminating } = planStorage(rules, slot.ordinal, pvc);
  const revision = isOfCurrent(facts, slot.at) ? currentRevision : history.current;
  const template = revision === history.current ? rules.template : ((templateOf(revision) ?? rules.template) as PodTemplate);
  return { do: 'create', slot, revision: revision.metadata.name ?? '', template, pvcs: create.map(withOwner(facts, slot)), terminating };
}

/** Creates the claims that a pod waits for, and corrects the owners of the others. */
export function storage(facts: SetFacts, slot: Slot): Action[] {
  const { pod } = slot;
  if (pod === undefined) return [];
  const { create, terminating } = planStorage(facts.rules, slot.ordinal, facts.pvc);
  const missing: Action[] =
    create.length > 0 || terminating.length > 0 ? [{ do: 'storage', pod, pvcs: create.map(withOwner(facts, slot)), terminating }] : [];
  return [...missing, ...pvcOwners(facts, slot, 'failures')];
}

/** Corrects an existing pod. A pending pod, or one without the volumes of its claims, may lack claims too. */
export function repairs(facts: SetFacts, slot: Slot): Action[] {
  const { rules } = facts;
  const { pod, ordinal } = slot;
  if (pod === undefined) return [];
  const hasWrongVolumes = !hasStorage(rules, pod, ordinal);
  const isWrong = hasWrongVolumes || !hasIdentity(pod, rules);
  const claims = hasWrongVolumes || slot.health.pending ? storage(facts, slot) : pvcOwners(facts, slot, isWrong ? 'failures' : 'all');
  return isWrong ? [...claims, { do: 'repair', pod: repaired(rules, pod, ordinal), hasWrongVolumes }] : claims;
}

/** Corrects the owners of a pod's claims, so that the garbage collector deletes the claims that should be deleted with the pod or the set. */
function pvcOwners(facts: SetFacts, slot: Slot, eventsFor: 'all' | 'failures'): Action[] {
  return ownersOf(facts, slot, { condemned: false, eventsFor });
}

/** The same for the pods without a place (any more): only their deletion is reported. */
export function* condemnedOwners(facts: SetFacts, { condemned }: Slots): InTurns<Action[]> {
  const actions: Action[] = [];
  for (const [n, slot] of condemned.entries()) {
    if (n % podsInStep(facts.rules) === 0) yield;
    actions.push(...ownersOf(facts, slot, { condemned: true, eventsFor: 'nothing' }));
  }
  return actions;
}

type EventsFor = Extract<Action, { do: 'pvc-owners' }>['eventsFor'];

function ownersOf(
  { rules, pvc }: SetFacts,
  { name, ordinal, pod }: Slot,
  { condemned, eventsFor }: { condemned: boolean; eventsFor: EventsFor },
): Action[] {
  if (rules.claimTemplates.length === 0) return [];
  const { write, conflicting } = planRetention(rules, { podName: name, podUid: pod?.metadata.uid, ordinal, condemned }, pvc);
  return write.length > 0 || conflicting.length > 0 ? [{ do: 'pvc-owners', pod: name, write, conflicting, eventsFor }] : [];
}

/** Gives a new claim the owners that it should have. */
function withOwner({ rules }: SetFacts, { name, ordinal }: Slot): (pvc: Pvc) => Pvc {
  return (pvc) => {
    const only = (asked: string): Pvc | undefined => (asked === pvc.metadata.name ? pvc : undefined);
    return planRetention(rules, { podName: name, podUid: undefined, ordinal, condemned: false }, only).write[0] ?? pvc;
  };
}

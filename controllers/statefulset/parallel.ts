import { type Action, type Waits, type Work, waitsFor } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { pvcOwners, creation, repairs } from './place.ts';
import { isUnavailable, type Slots } from './slots.ts';
import { planUpdate } from './update.ts';

/**
 * Parallel: no place waits for another.
 *
 * | place | what |
 * | --- | --- |
 * | failed, succeeded | delete unless it is going |
 * | empty, with a claim that is about to go | leave it |
 * | empty | make its claims and it |
 * | pending | make missing claims, put their owners right |
 * | empty or pending, with a claim that is being deleted | say so, behind all else |
 * | name, labels, volumes or owners of claims are wrong | put right |
 * | no place for the pod | put the owners of its claims right, then delete it, well or not |
 *
 * Then, in the same look, the update.
 */
export function planParallel(facts: SetFacts, slots: Slots): Work {
  const places: Action[] = [];
  let waits: Waits | undefined;
  for (const slot of slots.wanted) {
    const { pod, health } = slot;
    if (pod === undefined) {
      const action = creation(facts, slot);
      if (typeof action !== 'string') places.push(action);
      waits ??= waitsFor(slot, typeof action === 'string' ? action : 'creating');
      continue;
    }
    if (isUnavailable(slot)) waits ??= waitsFor(slot);
    if (health.ended) {
      if (!health.terminating) places.push({ do: 'delete', pod, reason: 'ended' });
      continue;
    }
    if (health.terminating) continue;
    places.push(...repairs(facts, slot));
  }
  const owners = slots.condemned.flatMap((slot) => pvcOwners(facts, slot, true));
  const leaving = facts.rules.optIns.problems.length > 0 ? [] : slots.condemned;
  const removals = leaving.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.terminating ? [] : [{ do: 'delete', pod, reason: 'scaled-down' }],
  );
  const [top] = slots.condemned;
  if (top !== undefined) waits ??= waitsFor(top, 'scaling-down');
  const gone = new Set(places.flatMap((action) => (action.do === 'delete' ? [action.pod] : [])));
  const update = planUpdate(facts, slots, gone);
  // What cannot go well comes last, since a group in which something failed is the last one.
  const doomed = places.filter(isDoomed);
  const others = places.filter((action) => !isDoomed(action));
  return { groups: [others, owners, removals, update.actions, doomed], waits: waits ?? update.waits };
}

/** A claim of it is being deleted: an event says so, and nothing else can be done. */
function isDoomed(action: Action): boolean {
  return (action.do === 'create' || action.do === 'storage') && action.terminating.length > 0;
}

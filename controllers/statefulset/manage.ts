import { type Action, type Waits, waitsFor, type Work } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { condemnedOwners, creation, repairs, storage } from './place.ts';
import { firstUnhealthy, isUnavailable, type Slot, type Slots } from './places.ts';
import { planUpdate } from './update.ts';

/**
 * OrderedReady: from the lowest place up, each must be available before the next is looked at; one pod is made or deleted at a time.
 *
 * | place | what |
 * | --- | --- |
 * | failed, succeeded | delete unless it is going; stop |
 * | empty, with a claim that is about to go | stop |
 * | empty | make its claims and it; stop |
 * | pending | make missing claims, put their owners right |
 * | going; not running and ready; not available | stop |
 * | name, labels, volumes or owners of claims are wrong | put right |
 *
 * Then pods that there is no place for, from the highest down, one at a time:
 *
 * | pod | what |
 * | --- | --- |
 * | going | stop |
 * | not available, not ended, and not what everything waits for | stop |
 * | else | delete; stop |
 *
 * Then the update: scaling always comes first.
 */
export function planOrdered(facts: SetFacts, slots: Slots): Work {
  const groups: Action[][] = [];
  const stop = (waits: Waits): Work => ({ groups, waits });
  for (const slot of slots.wanted) {
    const { pod, health } = slot;
    if (pod === undefined) {
      const action = creation(facts, slot);
      if (typeof action !== 'string') groups.push([action]);
      return stop(waitsFor(slot, typeof action === 'string' ? action : 'creating'));
    }
    if (health.ended) {
      if (!health.terminating) groups.push([{ do: 'delete', pod, reason: 'ended' }]);
      return stop(waitsFor(slot));
    }
    if (isUnavailable(slot) || !health.runningReady) {
      // One that goes needs no claims any more; that these cannot be made must not keep it.
      if (isInTheWay(facts, slot)) groups.push([{ do: 'delete', pod, reason: 'forced' }]);
      else if (health.pending) groups.push(storage(facts, slot));
      return stop(waitsFor(slot));
    }
    groups.push(repairs(facts, slot));
  }
  groups.push(slots.condemned.flatMap((slot) => condemnedOwners(facts, slot)));
  const [top] = slots.condemned;
  if (top?.pod !== undefined) {
    const waits = waitsFor(top, 'scaling-down');
    if (top.health.terminating || facts.rules.optIns.problems.length > 0) return stop(waits);
    const ready = top.health.runningReady && !isUnavailable(top);
    // What has ended will never be well, and nothing is lost by it: two of them would wait for each other for ever.
    if (ready || top.health.ended || firstUnhealthy(slots) === top) groups.push([{ do: 'delete', pod: top.pod, reason: 'scaled-down' }]);
    return stop(waits);
  }
  const update = planUpdate(facts, slots, new Set());
  return { groups: [...groups, update.actions], waits: update.waits };
}

/** With dkc.dev/forced-rollback only: a broken pod of an outdated revision keeps all others waiting, for ever upstream. One that is ready needs only time. */
function isInTheWay({ rules, history, currentRevision }: SetFacts, { revision, health, at }: Slot): boolean {
  const { update, optIns, set } = rules;
  if (!optIns.forcedRollback || optIns.paused || optIns.problems.length > 0 || update.type !== 'RollingUpdate') return false;
  // Below it comes back as it was, and would be deleted again without end. Without the block of the strategy it is itself one of those that count.
  const kept = (set.status?.currentReplicas ?? 0) - (revision === currentRevision.metadata.name ? 1 : 0);
  return !health.terminating && !health.runningReady && revision !== history.current.metadata.name && at >= (update.partition ?? kept);
}

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
 * | empty, and somebody else's pod has its name | try, behind all else |
 * | name, labels, volumes or owners of claims are wrong | put right, also while it goes; volumes, which no server takes later, behind all else, unless it goes |
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
    const wrong = repairs(facts, slot);
    // One that goes keeps its claims: who owns them is put right. What cannot go well is no news of it.
    places.push(...(health.terminating ? wrong.filter((action) => !cannotGoWell(facts, action)) : wrong));
  }
  const owners = slots.condemned.flatMap((slot) => condemnedOwners(facts, slot));
  const leaving = facts.rules.optIns.problems.length > 0 ? [] : slots.condemned;
  const removals = leaving.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.terminating ? [] : [{ do: 'delete', pod, reason: 'scaled-down' }],
  );
  const [top] = slots.condemned;
  if (top !== undefined) waits ??= waitsFor(top, 'scaling-down');
  const gone = new Set(places.flatMap((action) => (action.do === 'delete' ? [action.pod] : [])));
  const update = planUpdate(facts, slots, gone);
  // What cannot go well comes last, since a group in which something failed is the last one.
  const isDoomed = (action: Action): boolean => cannotGoWell(facts, action);
  const replaced = new Set(update.actions.flatMap((action) => (action.do === 'delete' ? [action.pod.metadata.uid] : [])));
  const doomed = places.filter((action) => isDoomed(action) && !(action.do === 'repair' && replaced.has(action.pod.metadata.uid)));
  const others = places.filter((action) => !isDoomed(action));
  return { groups: [others, owners, removals, update.actions, doomed], waits: waits ?? update.waits };
}

/** A claim is being deleted, the name is another's, or volumes are wrong: an event says so at most, and nothing else can be done. */
function cannotGoWell({ isTaken }: SetFacts, action: Action): boolean {
  if (action.do === 'create') return action.terminating.length > 0 || isTaken(action.slot.name);
  if (action.do === 'storage') return action.terminating.length > 0;
  return action.do === 'repair' && action.hasWrongVolumes;
}

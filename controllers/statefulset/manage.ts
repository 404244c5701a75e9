import type { InTurns } from '../../base/waiting.ts';
import { type Action, type Waits, waitsFor, type Work } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { condemnedOwners, creation, repairs, storage } from './slot-actions.ts';
import { firstUnhealthy, isUnavailable, podsInStep, type Slot, type Slots } from './places.ts';
import { planUpdate } from './update.ts';

/**
 * OrderedReady: from the lowest place up, each pod must be available before the next place is considered; one pod is created or deleted at a time.
 *
 * | place | what |
 * | --- | --- |
 * | failed, succeeded | delete unless it is terminating; stop |
 * | empty, with a claim that is about to be deleted | stop |
 * | empty | create its claims and it; stop |
 * | pending | create missing claims, correct their owners |
 * | terminating; not running and ready; not available | stop |
 * | name, labels, volumes or owners of claims are wrong | correct |
 *
 * Then condemned pods (their ordinals have no place), from the highest down, one at a time:
 *
 * | pod | what |
 * | --- | --- |
 * | terminating | stop |
 * | not available, not ended, and not the pod that the set waits for | stop |
 * | else | delete; stop |
 *
 * Then the update: scaling always comes first.
 */
export function* planOrdered(facts: SetFacts, slots: Slots): InTurns<Work> {
  const groups: Action[][] = [];
  const stop = (waits: Waits): Work => ({ groups, waits });
  const step = podsInStep(facts.rules);
  for (const [n, slot] of slots.wanted.entries()) {
    if (n % step === 0) yield;
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
      // A pod that is deleted needs no claims: a failure to create them must not keep the pod.
      if (blocksUpdate(facts, slot)) groups.push([{ do: 'delete', pod, reason: 'forced' }]);
      else if (health.pending) groups.push(storage(facts, slot));
      return stop(waitsFor(slot));
    }
    groups.push(repairs(facts, slot));
  }
  groups.push(yield* condemnedOwners(facts, slots));
  const [top] = slots.condemned;
  if (top?.pod !== undefined) {
    const waits = waitsFor(top, 'scaling-down');
    if (top.health.terminating || facts.rules.optIns.problems.length > 0) return stop(waits);
    const ready = top.health.runningReady && !isUnavailable(top);
    // A pod that has ended never becomes healthy, and nothing is lost with it: two of them would wait for each other forever.
    if (ready || top.health.ended || firstUnhealthy(slots) === top) groups.push([{ do: 'delete', pod: top.pod, reason: 'scaled-down' }]);
    return stop(waits);
  }
  yield;
  const update = planUpdate(facts, slots, new Set());
  return { groups: [...groups, update.actions], waits: update.waits };
}

/** With dkc.dev/forced-rollback only: whether a broken outdated pod blocks all others, which upstream lets it do forever. A ready pod needs only time. */
function blocksUpdate({ rules, history, currentRevision }: SetFacts, { revision, health, at }: Slot): boolean {
  const { update, optIns, set } = rules;
  if (!optIns.forcedRollback || optIns.paused || optIns.problems.length > 0 || update.type !== 'RollingUpdate') return false;
  // Below the partition the pod would be created again at its old revision, and deleted endlessly. Without `rollingUpdate`, currentReplicas includes the pod.
  const kept = (set.status?.currentReplicas ?? 0) - (revision === currentRevision.metadata.name ? 1 : 0);
  return !health.terminating && !health.runningReady && revision !== history.current.metadata.name && at >= (update.partition ?? kept);
}

/**
 * Parallel: no place waits for another.
 *
 * | place | what |
 * | --- | --- |
 * | failed, succeeded | delete unless it is terminating |
 * | empty, with a claim that is about to be deleted | leave it |
 * | empty | create its claims and it |
 * | pending | create missing claims, correct their owners |
 * | empty or pending, with a claim that is being deleted | report it, after all else |
 * | empty, and a pod of another owner has its name | try, after all else |
 * | name, labels, volumes or owners of claims are wrong | correct, also while it is terminating; volumes, which no server accepts later, after all else, unless it is terminating |
 * | no place for the pod | correct the owners of its claims, then delete it, healthy or not |
 *
 * Then, in the same reconcile, the update.
 */
export function* planParallel(facts: SetFacts, slots: Slots): InTurns<Work> {
  const places: Action[] = [];
  let waits: Waits | undefined;
  const step = podsInStep(facts.rules);
  for (const [n, slot] of slots.wanted.entries()) {
    if (n % step === 0) yield;
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
    // A terminating pod keeps its claims, so their owners are corrected. What cannot succeed is not reported for it.
    places.push(...(health.terminating ? wrong.filter((action) => !cannotSucceed(facts, action)) : wrong));
  }
  const owners = yield* condemnedOwners(facts, slots);
  const leaving = facts.rules.optIns.problems.length > 0 ? [] : slots.condemned;
  const removals = leaving.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.terminating ? [] : [{ do: 'delete', pod, reason: 'scaled-down' }],
  );
  const [top] = slots.condemned;
  if (top !== undefined) waits ??= waitsFor(top, 'scaling-down');
  const gone = new Set(places.flatMap((action) => (action.do === 'delete' ? [action.pod] : [])));
  yield;
  const update = planUpdate(facts, slots, gone);
  yield;
  // What cannot succeed comes last, because a failed group ends the work.
  const isDoomed = (action: Action): boolean => cannotSucceed(facts, action);
  const replaced = new Set(update.actions.flatMap((action) => (action.do === 'delete' ? [action.pod.metadata.uid] : [])));
  const doomed = places.filter((action) => isDoomed(action) && !(action.do === 'repair' && replaced.has(action.pod.metadata.uid)));
  const others = places.filter((action) => !isDoomed(action));
  return { groups: [others, owners, removals, update.actions, doomed], waits: waits ?? update.waits };
}

/** A claim is terminating, the name is taken, or volumes are wrong: the controller can only report it. */
function cannotSucceed({ isTaken }: SetFacts, action: Action): boolean {
  if (action.do === 'create') return action.terminating.length > 0 || isTaken(action.slot.name);
  if (action.do === 'storage') return action.terminating.length > 0;
  return action.do === 'repair' && action.hasWrongVolumes;
}

import type { Millis } from '../../base/clock.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import { lastRefusal, type RecordedEvent } from '../common/events.ts';
import type { Revision } from '../common/history/contract.ts';
import { whyNotAvailable } from '../common/pods.ts';
import { noMemory } from '../common/set-memory.ts';
import { waitsFor } from './actions.ts';
import { defaultClassOf, type SetFacts } from './observe.ts';
import { creation } from './slot-actions.ts';
import { plan, planOwnership } from './plan.ts';
import { slotsOf, type Slot } from './places.ts';
import { excessOf, rulesOf } from './rules.ts';
import type { Pod, Pvc, StatefulSet, StorageClass } from '../common/types.ts';
import { isOld } from './update.ts';

/** The state of one pod of a set, or what the set as a whole waits for. */
export interface Explained {
  /** Name of a pod; of the set, for pods that are not listed one by one. */
  object: string;
  /**
   * One word, for scripts. `runs`; `old`: available, of an old revision; `kept`: like `old`, and below the partition; `missing`: not created yet; `leaving`:
   * its ordinal is no longer part of the set; or why the pod is not available. The pod that the set waits for comes first, with the reason for the wait.
   */
  reason: string;
  /** For people. */
  detail: string;
}

/** A StatefulSet, and everything in the cluster that its controller reads to plan for it: all pods, claims and revisions of the namespace. */
export interface StatefulSetInCluster {
  set: Readonly<StatefulSet>;
  pods: readonly Readonly<Pod>[];
  claims: readonly Readonly<Pvc>[];
  revisions: readonly Readonly<Revision>[];
  /** All of the cluster; none unless the set expands claims. */
  classes: readonly Readonly<StorageClass>[];
  /** About the set; none without the right to read them. */
  events: readonly Readonly<RecordedEvent>[];
  /** Wall clock, in ms. */
  now: Millis;
}

/** Explains the set as a whole, its pods and its claims, as a controller that has just started would decide. */
export function explainStatefulSet({ set, pods, revisions, claims, classes, events, now }: StatefulSetInCluster): Explained[] {
  const rules = rulesOf(set);
  const whole = (reason: string, detail: string): Explained => ({ object: rules.name, reason, detail });
  if (set.metadata.deletionTimestamp !== undefined)
    return [whole('deleting', 'the set is terminating; the garbage collector deletes its pods')];
  if (rules.tooLarge !== undefined) return [whole('too-large', `the set is not synced: ${rules.tooLarge}`)];
  if (rules.selector === undefined)
    return [whole('selector', 'the set is not synced: its selector is invalid, or is empty and would select all pods')];
  const podNames = new Set(pods.map(({ metadata }) => metadata.name));
  const claimsByName = new Map(claims.map((claim) => [claim.metadata.name ?? '', claim]));
  const facts = planOwnership({
    rules,
    memory: noMemory,
    pods,
    revisions,
    isTaken: (name) => podNames.has(name),
    pvc: (name) => claimsByName.get(name),
    allPvcs: () => claims,
    storageClass: (name) => (name === undefined ? defaultClassOf(classes) : classes.find(({ metadata }) => metadata.name === name)),
    now,
  });
  return [
    ...rules.optIns.problems.map((problem) => whole('annotation', `rollout and scale-down are paused: invalid annotation: ${problem}`)),
    ...excessOf(rules).map(({ message }) => whole('replicas', message)),
    ...withRefusal(withNameConflicts(explain(facts), facts.adoption.pods, pods), events),
    ...plan(facts).refused.map(({ pvc: claim, why }) => ({ object: claim, reason: 'cannot-expand', detail: why })),
  ];
}

/** A pod that the server rejects is retried with backoff: it is not about to be created. */
function withRefusal(rows: readonly Explained[], events: StatefulSetInCluster['events']): readonly Explained[] {
  const refusal = lastRefusal(events);
  if (refusal === undefined) return rows;
  return rows.map((row) => (row.reason === 'creating' ? { ...row, detail: `it is to be created; ${refusal}` } : row));
}

const UNMADE: ReadonlySet<string> = new Set(['creating', 'missing']);

/** Adds taken names: the controller finds out only from a rejection that another pod has the name, and records no event about it. */
function withNameConflicts(
  rows: readonly Explained[],
  { keep, adopt }: SetFacts['adoption']['pods'],
  pods: readonly Readonly<Pod>[],
): Explained[] {
  const own = new Set([...keep, ...adopt]);
  const others = new Map(pods.filter((pod) => !own.has(pod)).map((pod) => [pod.metadata.name ?? '', pod]));
  return rows.map((row) => {
    const other = UNMADE.has(row.reason) ? others.get(row.object) : undefined;
    const detail =
      other &&
      `a pod with this name exists and is not owned by this StatefulSet: ${whose(other)}; the pod is created once that one is deleted`;
    return detail === undefined ? row : { object: row.object, reason: 'name-taken', detail };
  });
}

function whose(pod: Readonly<Pod>): string {
  const owner = controllerOf(pod);
  if (owner !== undefined) return `its owner is ${owner.kind} ${owner.name} with uid ${owner.uid}`;
  return pod.metadata.deletionTimestamp === undefined ? 'its labels do not match the selector' : 'it is terminating';
}

/** What the set waits for, then each of its pods: computed with the controller's own plan. */
export function explain(facts: SetFacts): Explained[] {
  const { waits } = plan(facts);
  const { wanted, condemned, unlisted } = slotsOf(facts);
  const partition = facts.rules.update.type === 'RollingUpdate' ? (facts.rules.update.partition ?? 0) : 0;
  const { places, name: set } = facts.rules;
  const more = unlisted && `${unlisted.count} more of ${places.length}, up to ${unlisted.top.name}: they are created after lower ordinals`;
  const first = waits === undefined ? [] : [waits];
  return [
    ...first,
    ...wanted.flatMap((slot) => (slot.name === waits?.object ? [] : [{ object: slot.name, ...howIs(facts, slot, slot.at < partition) }])),
    ...(more === undefined ? [] : [{ object: set, reason: 'missing', detail: more }]),
    ...condemned
      .filter(({ name }) => name !== waits?.object)
      .map(({ name }) => ({
        object: name,
        reason: 'leaving',
        detail: 'its ordinal is no longer part of the set; higher ordinals are deleted first',
      })),
  ];
}

function howIs(facts: SetFacts, slot: Slot, below: boolean): Omit<Explained, 'object'> {
  const { pod, health } = slot;
  if (pod === undefined) {
    const action = creation(facts, slot);
    if (typeof action !== 'string' && !facts.rules.parallel)
      return { reason: 'missing', detail: 'it is created once lower ordinals are available' };
    const { reason, detail } = waitsFor(slot, typeof action === 'string' ? action : 'creating');
    return { reason, detail };
  }
  if (!health.available || health.terminating) {
    const { reason, text } = whyNotAvailable(pod);
    return { reason, detail: text };
  }
  if (!isOld(facts, slot)) return { reason: 'runs', detail: 'available' };
  if (below) return { reason: 'kept', detail: 'available, of an old revision: its ordinal is below the partition' };
  if (facts.rules.update.type === 'OnDelete')
    return { reason: 'old', detail: 'available, of an old revision: with OnDelete it is replaced only once someone deletes it' };
  return { reason: 'old', detail: 'available, of an old revision: higher ordinals are replaced first' };
}

import { whyNotAvailable } from '../common/pods.ts';
import { waitsFor } from './actions.ts';
import type { SetFacts } from './observe.ts';
import { creation } from './place.ts';
import { plan } from './plan.ts';
import { slotsOf, type Slot } from './places.ts';
import { isOld } from './update.ts';

/** How one pod of a set stands, or what the set as a whole waits for. */
export interface Explained {
  /** Name of a pod; of the set, for pods that are not listed one by one. */
  object: string;
  /**
   * One word, for scripts. `runs`; `old`: available, of an old revision; `kept`: so, and below the partition; `missing`: not made yet; `leaving`: there is no place
   * for it any more; or what keeps it from being available. The pod that everything waits for comes first, with the reason of that.
   */
  reason: string;
  /** For people. */
  detail: string;
}

/** What a set waits for, first of all; then each of its pods: from the same decision that the controller takes. */
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
    if (typeof action !== 'string') return { reason: 'missing', detail: 'it is created once lower ordinals are available' };
    const { reason, detail } = waitsFor(slot, action);
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

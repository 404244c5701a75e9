import type { Action, Work } from './actions.ts';
import type { SetFacts } from './facts.ts';
import { claims } from './place.ts';
import type { Slots } from './slots.ts';
import { isOld } from './update.ts';
import { waitsFor } from './waits.ts';

/**
 * The strategy Recreate: all pods of old revisions go at once, those without a place too, and nothing is made before they are gone.
 * @returns undefined when there is no such pod
 */
export function planRecreate(facts: SetFacts, { wanted, condemned }: Slots): Work | undefined {
  const { optIns, update } = facts.rules;
  if (update.type !== 'Recreate' || optIns.paused || optIns.problems.length > 0) return undefined;
  const old = [...wanted, ...condemned].filter((slot) => isOld(facts, slot));
  const [first] = old;
  if (first === undefined) return undefined;
  const actions = old.flatMap(({ pod, health }): Action[] =>
    pod === undefined || health.going ? [] : [{ do: 'delete', pod, because: 'recreate' }],
  );
  // With a pod that there is no place for its claims may go: who owns them is said while it is there.
  const owners = condemned.flatMap((slot) => claims(facts, slot, true));
  return { groups: [owners, actions], waits: waitsFor(first, 'recreating') };
}

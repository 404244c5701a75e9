import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import { conditionsDiffer, type Condition } from '../common/progress.ts';
import type { Counts } from './judge.ts';
import type { DaemonSet } from './types.ts';

/**
 * What the status should be.
 * @param observed - this generation has been acted on; false leaves what it says
 * @param conditions - all of them, others' too
 */
export function statusOf(
  set: Readonly<DaemonSet>,
  counts: Counts,
  { observed, conditions }: { observed: boolean; conditions: readonly Condition[] },
): DaemonSetStatus {
  const { collisionCount, observedGeneration } = set.status ?? {};
  const generation = observed ? set.metadata.generation : observedGeneration;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    currentNumberScheduled: counts.current,
    desiredNumberScheduled: counts.desired,
    numberMisscheduled: counts.misscheduled,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
  };
}

const NUMBERS = [
  'currentNumberScheduled',
  'desiredNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** What writing it would change; `numbers` are words of conditions too. Servers leave out zeros, but for the first four. */
export function statusChange(has: DaemonSetStatus | undefined, wants: DaemonSetStatus): 'nothing' | 'numbers' | 'more' {
  if ((has?.observedGeneration ?? 0) < (wants.observedGeneration ?? 0)) return 'more';
  const conditions = conditionsDiffer(has?.conditions, wants.conditions);
  if (conditions === 'more') return 'more';
  const numbers = NUMBERS.some((number) => (has?.[number] ?? 0) !== (wants[number] ?? 0));
  return numbers || conditions === 'words' || has === undefined ? 'numbers' : 'nothing';
}

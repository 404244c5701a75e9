import type { KubeObject } from '../../kube/api/object.ts';
import type { StatusPlan } from './reconcile.ts';
import type { Memory } from './set-memory.ts';

/** What a new status would change, and when. */
export interface StatusNews {
  /** What writing it would change; `numbers` are words of conditions too. */
  change: 'nothing' | 'numbers' | 'more';
  /** A number changes to what it should be. */
  reached: boolean;
  /** The numbers are about to change again: pods that were created or deleted are not in the cache yet, or are being created now. */
  busy: boolean;
}

/** Whether a count differs from the one in the status and is now what it should be. @param counts - as the status has it, as it is now */
export function reaches(wanted: number, counts: readonly (readonly [has: number | undefined, is: number])[]): boolean {
  return counts.some(([has, is]) => is === wanted && (has ?? 0) !== is);
}

/**
 * Whether to write a status now. Each write of it is waited for, and then for its event, before the set goes on, so numbers that are about to change again wait:
 *
 * | what changes | when |
 * | --- | --- |
 * | more than numbers, such as the generation that was observed | now |
 * | a number reaches what it should be | now: people and scripts wait for that |
 * | other numbers | 100 ms after the last write; 500 ms while they are about to change again |
 */
export function paceStatus<S extends KubeObject & { status?: object }>(
  status: S['status'],
  { change, reached, busy }: StatusNews,
  memory: Pick<Memory, 'statusHeldMs'>,
): StatusPlan<S> {
  if (change === 'nothing') return { status: undefined, wakeUps: [] };
  const held = change === 'more' || reached ? 0 : memory.statusHeldMs(busy ? 'busy' : 'idle');
  if (held === 0) return { status, wakeUps: [] };
  return { status: undefined, wakeUps: [{ requeueAfter: held, why: 'the status was written a moment ago' }] };
}

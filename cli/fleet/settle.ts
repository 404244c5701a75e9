import { sameSource, sourceText, type PayloadRef, type SpecSource } from '../../agent/checkpoint/source.ts';
import { sameSpec, type FleetNode } from './fleet-node.ts';
import { fleetState } from './fleet-state.ts';
import type { Millis } from '../../base/clock.ts';

/** `trusted`: the node has proved the config. `active`: it runs it. */
export const goals = ['trusted', 'active'] as const;
export type Goal = (typeof goals)[number];

/** Where a wait for one node stands. */
export type Settling =
  | { at: 'waiting'; why: string; trialEndsAtMs?: Millis }
  /** `state` is what it ended in. */
  | { at: 'settled'; state: Goal | 'local' }
  /** `runs` says what the node is back on, where it is back on anything. */
  | { at: 'failed'; how: 'refused' | 'condemned' | 'fell-back' | 'error' | 'reassigned' | 'gone'; error: string; runs?: string };

/** What is waited for. `version` is the ConfigMap as it was when it was assigned, where it was there at all. */
export interface Wanted {
  /** null: the local config. */
  wanted: SpecSource | null;
  version?: PayloadRef;
  goal: Goal;
}

/**
 * What a node says about an assignment that was just written.
 * @param before - the node before the write. An error that it had then may be a leftover: it stays beside a new `assigned` until the
 * agent has started on that one. So it counts only once another config is active, or once `graceOver`. An error of the way to the
 * ConfigMap may pass, and counts once `graceOver` as well.
 */
export function settling({ wanted, version, goal }: Wanted, before: FleetNode, now: FleetNode | undefined, graceOver: boolean): Settling {
  if (!now) return { at: 'failed', how: 'gone', error: 'the Node was deleted' };
  if (!sameSpec(now.wanted, wanted))
    return { at: 'failed', how: 'reassigned', error: `${sourceText(now.wanted)} was assigned in the meantime` };
  if (now.error !== null) return failing(before, now, now.error, graceOver);
  if (wanted === null) return now.assigned === null && now.active === null ? settledIn('local') : waiting('waiting for the agent');
  if (!now.reports) return waiting(now.agent === null ? 'no agent has reported yet' : 'waiting for the agent');
  if (!sameSpec(now.assigned, wanted)) return waiting('waiting for the agent');
  // The same name as before may still mean the version of before.
  const isVersion = !version || (now.assigned?.uid === version.uid && now.assigned.resourceVersion === version.resourceVersion);
  if (!isVersion && sameSource(before.assigned, now.assigned)) return waiting('still on the previous version of the ConfigMap');
  if (!sameSource(now.assigned, now.active)) return waiting('assigned, not active yet');
  if (goal === 'active') return settledIn('active');
  if (sameSource(now.assigned, now.lastKnownGood)) return settledIn('trusted');
  const endsAt = now.agent?.trial?.endsAtMs ?? undefined;
  return { at: 'waiting', why: 'on trial', ...(endsAt === undefined ? {} : { trialEndsAtMs: endsAt }) };
}

const waiting = (why: string): Settling => ({ at: 'waiting', why });
const settledIn = (state: Goal | 'local'): Settling => ({ at: 'settled', state });

function failing(before: FleetNode, now: FleetNode, error: string, graceOver: boolean): Settling {
  const isNew = before.error !== error || !sameSource(before.active, now.active);
  if (!isNew && !graceOver) return waiting('still reports its previous error');
  const state = fleetState(now);
  const runs = sourceText(now.active);
  if (state === 'refused' || state === 'condemned' || state === 'fell-back') return { at: 'failed', how: state, error, runs };
  return graceOver ? { at: 'failed', how: 'error', error, runs } : waiting(error);
}

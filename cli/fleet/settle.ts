import { sameSource, type PayloadRef, type SpecSource } from '../../agent/checkpoint/source.ts';
import { sameSpec, type FleetNode } from './fleet-node.ts';

/** Where a wait for one node stands. */
export type Settling = { at: 'waiting'; why: string } | { at: 'settled' } | { at: 'failed'; error: string };

/** What is waited for. `version` is the ConfigMap as it was when it was assigned, where it was there at all. */
export interface Wanted {
  wanted: SpecSource;
  version?: PayloadRef;
}

/**
 * What a node says about an assignment that was just written.
 * @param before - the node before the write. An error that it had then may be a leftover: it stays beside a new `assigned` until the
 * agent has started on that one. So it counts only once another config is active, or once `graceOver`.
 */
export function settling({ wanted, version }: Wanted, before: FleetNode, now: FleetNode | undefined, graceOver: boolean): Settling {
  if (!now) return { at: 'failed', error: 'the Node is gone' };
  if (!sameSpec(now.wanted, wanted)) return { at: 'failed', error: 'somebody else assigned something else' };
  if (now.error !== null)
    return graceOver || before.error !== now.error || !sameSource(before.active, now.active)
      ? { at: 'failed', error: now.error }
      : { at: 'waiting', why: 'still shows the error of before' };
  if (!now.reports) return { at: 'waiting', why: 'no agent has reported yet' };
  if (!sameSpec(now.assigned, wanted)) return { at: 'waiting', why: 'not taken over yet' };
  // The same name as before may still mean the version of before.
  const isVersion = !version || (now.assigned?.uid === version.uid && now.assigned.resourceVersion === version.resourceVersion);
  if (!isVersion && sameSource(before.assigned, now.assigned)) return { at: 'waiting', why: 'still on the version of before' };
  if (!sameSource(now.assigned, now.active)) return { at: 'waiting', why: 'assigned, not active yet' };
  return { at: 'settled' };
}

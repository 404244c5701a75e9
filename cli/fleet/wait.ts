import { sameSource, sourceText, type PayloadRef, type SpecSource } from '../../agent/checkpoint/source.ts';
import { sameSpec, fleetState, isVerdict, type FleetNode } from '../../controllers/fleet/fleet-node.ts';
import type { Millis, Clock } from '../../base/clock.ts';
import type { FleetCarrier } from './carrier.ts';
import type { WatchProblem } from './watch-nodes.ts';

/** An error counts as final when neither it nor `assigned` has changed for this long: by then an agent has seen the assignment and started to apply it. */
const GRACE: Millis = 15_000;
const TICK: Millis = 1_000;

export interface Wait extends Wanted {
  /** State of every node before the write. */
  before: readonly FleetNode[];
  timeoutMs: Millis;
  /** Called with all nodes once a second, and whenever the state of one changes. */
  onProgress(states: ReadonlyMap<string, Settling>): void;
  /** Called when a node has settled or failed. */
  onEnd(node: string, end: Settling, afterMs: Millis): void;
  /** Called before the first report, with a function that returns the current problem of the watches. */
  onStart?: (problem: WatchProblem) => void;
}

interface Followed {
  before: FleetNode;
  /** undefined until the first report about the node. */
  seen?: { node: FleetNode | undefined };
  /** Time of the last change of `assigned` or the error, on the monotonic clock. */
  movedAt: Millis;
}

/**
 * Waits until every node has settled, a node has failed, or the timeout.
 * @returns the state of each node at that time @throws the signal's reason; what the watch throws
 */
export async function waitForNodes(
  fleet: Pick<FleetCarrier, 'watch'>,
  clock: Clock,
  wait: Wait,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Settling>> {
  const from = clock.monotonic();
  const states = new Map<string, Settling>(wait.before.map(({ node }) => [node, { at: 'waiting', why: 'not seen yet' }]));
  const followed = new Map<string, Followed>(wait.before.map((before) => [before.node, { before, movedAt: from }]));
  wait.onProgress(states);
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, signal]);
  /** @returns whether the node's state has changed */
  const check = (name: string, one: Followed): boolean => {
    const state = states.get(name);
    if (!one.seen || state?.at !== 'waiting' || stop.aborted) return false;
    const now = settling(wait, one.before, one.seen.node, clock.monotonic() - one.movedAt >= GRACE);
    states.set(name, now);
    if (now.at === 'waiting') return now.why !== state.why;
    followed.delete(name);
    wait.onEnd(name, now, clock.monotonic() - from);
    if (now.at === 'failed' || followed.size === 0) over.abort();
    return true;
  };
  const onSeen = (name: string, node: FleetNode | undefined): void => {
    const one = followed.get(name);
    if (!one || stop.aborted) return;
    const last = one.seen ? one.seen.node : one.before;
    if (!sameSource(node?.assigned ?? null, last?.assigned ?? null) || node?.error !== last?.error) one.movedAt = clock.monotonic();
    // Once the previous error is cleared, the same text counts as a new error.
    if (node?.error === null) one.before = { ...one.before, error: null };
    one.seen = { node };
    if (check(name, one)) wait.onProgress(states);
  };
  const tick = async (): Promise<void> => {
    while (!stop.aborted) {
      await clock.sleep(Math.min(TICK, Math.max(wait.timeoutMs - (clock.monotonic() - from), 0)), stop);
      for (const [name, one] of followed) check(name, one);
      wait.onProgress(states);
      if (clock.monotonic() - from >= wait.timeoutMs) over.abort();
    }
  };
  if (followed.size === 0) over.abort();
  try {
    // When watch or timer ends, it stops the other; errors caused by this abort are ignored.
    const both = [fleet.watch([...followed.keys()], onSeen, stop, wait.onStart), tick()].map((part) =>
      part.finally(() => over.abort()).catch((error: unknown) => quietWhenEnded(error, stop.reason)),
    );
    await Promise.all(both);
  } finally {
    over.abort();
  }
  signal.throwIfAborted();
  return states;
}

function quietWhenEnded(error: unknown, reason: unknown): void {
  if (error !== reason) throw error;
}

/** `trusted`: the node has proved the config. `active`: it runs it. */
export const goals = ['trusted', 'active'] as const;
export type Goal = (typeof goals)[number];

/** Where a wait for one node stands. */
export type Settling =
  /** `reason`: set where a message adds a remedy, or the end of the trial. */
  | { at: 'waiting'; why: string; reason?: 'no-agent' | 'on-trial'; trialEndsAtMs?: Millis }
  /** `state` is the final state. */
  | { at: 'settled'; state: Goal | 'local' }
  /** `runs` is the config that the node runs now, if it runs one. */
  | { at: 'failed'; how: 'refused' | 'condemned' | 'fell-back' | 'error' | 'reassigned' | 'gone'; error: string; runs?: string };

/** The goal of a wait. `version` is the version of the ConfigMap at the time of the assignment, if it existed. */
export interface Wanted {
  /** null: the local config. */
  wanted: SpecSource | null;
  version?: PayloadRef;
  goal: Goal;
}

/**
 * State of a node after an assignment was written.
 * @param before - the node before the write. Its error may be outdated: it stays in the status next to a new `assigned` until the
 * agent has started with the new config. So it counts only once another config is active, or once `graceOver`. An error while reading
 * the ConfigMap may be transient, and counts once `graceOver` as well.
 */
export function settling({ wanted, version, goal }: Wanted, before: FleetNode, now: FleetNode | undefined, graceOver: boolean): Settling {
  if (!now) return { at: 'failed', how: 'gone', error: 'the Node was deleted' };
  if (!sameSpec(now.wanted, wanted))
    return { at: 'failed', how: 'reassigned', error: `${sourceText(now.wanted)} was assigned in the meantime` };
  if (now.isBehind) return waiting('waiting for the agent');
  // No agent rejects its local config, so the verdict is about the previous assignment, even after `graceOver`.
  if (wanted === null && isVerdict(fleetState(now))) return waiting('still reports its previous error');
  if (now.error !== null) return failing(before, now, now.error, graceOver);
  if (wanted === null) return now.assigned === null && now.active === null ? settledIn('local') : waiting('waiting for the agent');
  if (!now.reports && now.agent === null) return { at: 'waiting', why: 'no agent has reported yet', reason: 'no-agent' };
  if (!now.reports) return waiting('waiting for the agent');
  if (!sameSpec(now.assigned, wanted)) return waiting('waiting for the agent');
  // If the ConfigMap has the same name as before, `assigned` may still be its previous version.
  const isVersion = !version || (now.assigned?.uid === version.uid && now.assigned.resourceVersion === version.resourceVersion);
  if (!isVersion && sameSource(before.assigned, now.assigned)) return waiting('still on the previous version of the ConfigMap');
  if (!sameSource(now.assigned, now.active)) return waiting('assigned, not active yet');
  if (goal === 'active') return settledIn('active');
  if (sameSource(now.assigned, now.lastKnownGood)) return settledIn('trusted');
  const endsAt = now.agent?.trial?.endsAtMs ?? undefined;
  return { at: 'waiting', why: 'on trial', reason: 'on-trial', ...(endsAt === undefined ? {} : { trialEndsAtMs: endsAt }) };
}

const waiting = (why: string): Settling => ({ at: 'waiting', why });
const settledIn = (state: Goal | 'local'): Settling => ({ at: 'settled', state });

function failing(before: FleetNode, now: FleetNode, error: string, graceOver: boolean): Settling {
  const isNew = before.error !== error || !sameSource(before.active, now.active);
  if (!isNew && !graceOver) return waiting('still reports its previous error');
  const state = fleetState(now);
  const runs = sourceText(now.active);
  // An agent may report that a config is condemned before it has restarted with the previous one.
  if (state === 'condemned' && now.active !== null && sameSource(now.assigned, now.active) && !graceOver)
    return waiting('condemned, the agent is about to roll back');
  if (state === 'refused' || state === 'condemned' || state === 'fell-back') return { at: 'failed', how: state, error, runs };
  return graceOver ? { at: 'failed', how: 'error', error, runs } : waiting(error);
}

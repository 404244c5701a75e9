import { sameSource } from '../../agent/checkpoint/source.ts';
import { settling, type Settling, type Wanted } from './settle.ts';
import type { FleetCarrier } from './carrier.ts';
import type { FleetNode } from './fleet-node.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** An error counts as an answer after this long in which neither it nor `assigned` moved: by then an agent has looked, and started on it. */
const GRACE: Millis = 15_000;
const TICK: Millis = 1_000;

export interface Wait extends Wanted {
  /** Every node as it was before the write. */
  before: readonly FleetNode[];
  timeoutMs: Millis;
  /** Called with all nodes once a second, and whenever one moves. */
  onProgress(states: ReadonlyMap<string, Settling>): void;
  /** A node has settled or failed. */
  onEnd(node: string, end: Settling, afterMs: Millis): void;
}

interface Followed {
  before: FleetNode;
  /** undefined until its first look. */
  seen?: { node: FleetNode | undefined };
  /** When its `assigned` or its error last moved, on the monotonic clock. */
  movedAt: Millis;
}

/**
 * Waits until every node has settled, one has failed, or the time is over.
 * @returns where each node stands then @throws the signal's reason; what the watch throws
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
  /** @returns whether it stands elsewhere than before */
  const look = (name: string, one: Followed): boolean => {
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
    // Once the error of before is cleared, the same text is news.
    if (node?.error === null) one.before = { ...one.before, error: null };
    one.seen = { node };
    if (look(name, one)) wait.onProgress(states);
  };
  const tick = async (): Promise<void> => {
    while (!stop.aborted) {
      await clock.sleep(Math.min(TICK, Math.max(wait.timeoutMs - (clock.monotonic() - from), 0)), stop);
      for (const [name, one] of followed) look(name, one);
      wait.onProgress(states);
      if (clock.monotonic() - from >= wait.timeoutMs) over.abort();
    }
  };
  if (followed.size === 0) over.abort();
  try {
    // Whatever ends, ends the other as well; only a failure that no abort caused is one.
    const both = [fleet.watch([...followed.keys()], onSeen, stop), tick()].map((part) =>
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

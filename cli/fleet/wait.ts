import { settling, type Settling, type Wanted } from './settle.ts';
import { sameSource } from '../../agent/checkpoint/source.ts';
import type { FleetCarrier } from './carrier.ts';
import type { FleetNode } from './fleet-node.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** An error that was there before counts again after this long in which `assigned` stood still: by then an agent has looked, and started anew. */
const GRACE: Millis = 15_000;

export interface Wait extends Wanted {
  /** Every node as it was before the write. */
  before: readonly FleetNode[];
  timeoutMs: Millis;
  /** Called with all nodes whenever one moves. */
  onProgress(states: ReadonlyMap<string, Settling>): void;
}

/** Waits until every node has settled or failed. @returns each node's end; still `waiting` where time ran out @throws the signal's reason */
export async function waitForNodes(
  fleet: FleetCarrier,
  clock: Clock,
  wait: Wait,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Settling>> {
  const states = new Map<string, Settling>(wait.before.map(({ node }) => [node, { at: 'waiting', why: 'not seen yet' }]));
  wait.onProgress(states);
  const over = new AbortController();
  const all = AbortSignal.any([over.signal, signal]);
  const follow = async (before: FleetNode): Promise<void> => {
    const done = new AbortController();
    let seen: { node: FleetNode | undefined } | undefined;
    let assigned = before.assigned;
    let graceOver = false;
    let grace = new AbortController();
    const look = (): void => {
      if (!seen || done.signal.aborted) return;
      const state = settling(wait, before, seen.node, graceOver);
      states.set(before.node, state);
      wait.onProgress(states);
      if (state.at !== 'waiting') done.abort();
    };
    const stop = AbortSignal.any([done.signal, all]);
    const giveGrace = (): void => {
      grace.abort();
      const mine = (grace = new AbortController());
      graceOver = false;
      void clock.sleep(GRACE, AbortSignal.any([mine.signal, stop])).then(
        () => {
          // It may have rung in the very moment in which it was given anew.
          if (mine.signal.aborted) return;
          graceOver = true;
          look();
        },
        () => undefined,
      );
    };
    giveGrace();
    const watch = fleet.watch(before.node, (node) => {
      seen = { node };
      if (node && !sameSource(node.assigned, assigned)) {
        assigned = node.assigned;
        giveGrace();
      }
      look();
    }, stop); // prettier-ignore
    await watch.catch((error: unknown) => quietWhenAborted(error, stop));
  };
  const limit = clock.sleep(wait.timeoutMs, all).then(
    () => over.abort(),
    () => undefined,
  );
  try {
    await Promise.all(wait.before.map(follow));
  } finally {
    over.abort();
    await limit;
  }
  signal.throwIfAborted();
  return states;
}

function quietWhenAborted(error: unknown, signal: AbortSignal): void {
  if (!signal.aborted) throw error;
}

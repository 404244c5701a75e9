import type { NodeConfigRollout, Touch } from '../types.ts';
import type { Millis } from '../../../base/clock.ts';
import type { WakeUp } from '../../common/reconcile.ts';
import { readStatus } from '../read-status.ts';
import { MAX_RECORDED } from './record.ts';
import type { Key } from '../../../kube/cache/contract.ts';

/** The value of `status.waitsFor` while the budget of the cluster keeps a rollout waiting. */
export const CLUSTER_WAIT = 'ClusterMaxUnavailable';

/** A touch of any rollout, recorded before the node is written. */
export interface ClusterTouch extends Touch {
  /** Name of the rollout that touches it. */
  rollout: string;
  /** The node is drained first; absent: it is assigned the revision. */
  drain?: true;
}

/** The nodes of the cluster, where `--rollout-max-unavailable` says how many of them may be unavailable at once. */
export interface ClusterFacts {
  /** As the flag has it: a number or a percentage. */
  budget: string;
  size: number;
  /** How many may be unavailable. */
  most: number;
  /** How many are unavailable, including those that are about to be touched. */
  unavailable: number;
  /** Whether this node is unavailable, as far as the caches show. */
  isUnavailable: (node: string) => boolean;
  /**
   * Touches of all rollouts that the caches do not show, by node. Those for which `isOld` returns true are recorded again before they are executed: this
   * process has not recorded them recently.
   */
  pending: ReadonlyMap<string, ClusterTouch>;
  isOld: (touch: ClusterTouch) => boolean;
  /** Unavailable nodes that failed in another rollout which has not stopped, and so does not roll them back. */
  failedElsewhere: number;
  /** Rollouts that have waited longer for a place in the cluster: one place is kept for each. */
  ahead: readonly string[];
  /** The budget that the API server's record names; undefined: there is no record. */
  recorded: string | undefined;
}

/** How often a rollout that waits for a place is reconciled, in ms, besides changes of nodes. */
const RECHECK_MS: Millis = 30_000;

export const placeWakeUp: WakeUp = { requeueAfter: RECHECK_MS, why: 'the limit of --rollout-max-unavailable' };

type Of = ClusterFacts | undefined;

/** How many more nodes of the cluster may become unavailable; Infinity: the cluster has no budget; below 0: the budget is exceeded. */
export function placesOf(cluster: Of, { isBack = false } = {}): number {
  if (cluster === undefined) return Infinity;
  // A rollback leaves no places to others: the configuration that runs now is worse.
  return cluster.most - cluster.unavailable - (isBack ? 0 : cluster.ahead.length);
}

/** Hands out places in the order of the calls. @returns a function: whether this node may be touched */
export function placesFor(cluster: Of, places: number): (node: string) => boolean {
  let left = places;
  return (node) => {
    if (cluster === undefined || cluster.isUnavailable(node)) return true;
    // The node keeps the place that was recorded for it, unless so many nodes have gone down since that the budget is exceeded.
    if (cluster.pending.has(node)) return cluster.unavailable <= cluster.most;
    if (left <= 0) return false;
    left -= 1;
    return true;
  };
}

/** How many more touches fit into the record. */
export const remainingRecords = (cluster: Of): number =>
  cluster === undefined ? Infinity : Math.max(0, MAX_RECORDED - cluster.pending.size);

/** Why a rollout waits, without numbers that change with every node. */
export function whyNoPlace({ budget, most, size, unavailable, ahead }: ClusterFacts): string {
  if (most > unavailable && ahead.length > 0)
    return `the next node that --rollout-max-unavailable allows is for rollout ${ahead[0]}, which has waited longer`;
  const of = budget.endsWith('%') ? `, ${budget} of ${size}` : '';
  return `the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows (${most}${of})`;
}

/**
 * Failed nodes of this rollout and others use up the budget of the cluster: no rollout could continue. A rollout that has one of these nodes stops, as if its
 * own `maxUnavailable` were used up.
 */
export function isFullOfFailures(cluster: Of, failures: readonly { node: string }[]): boolean {
  if (cluster === undefined) return false;
  const own = failures.filter(({ node }) => cluster.isUnavailable(node)).length;
  return own > 0 && own + cluster.failedElsewhere >= cluster.most;
}

/** No place is kept for a waiting rollout that was not reconciled for longer than this, in ms: its reconciles fail. */
const STALE_MS: Millis = 90_000;
/** Clocks of two machines may differ by this, in ms. */
const SKEW_MS: Millis = 60_000;

/** A rollout, according to its status. */
interface InLine {
  key: Key;
  /** When the rollout last touched a node; ms since the epoch, 0: never. */
  servedAt: Millis;
  /** The rollout waits for a place in the cluster. */
  waits: boolean;
}

/**
 * The queue of rollouts that wait for a place in the cluster. The rollout whose last touch is the longest ago comes first, and every other one leaves a place
 * for each rollout before it, so that none waits forever while others continue. The time of the last touch is in the status, so that every process has the same
 * order. A status may be outdated as to whether the rollout waits: it counts until this process reconciles the rollout.
 */
export class Turns {
  readonly #since: Millis;
  /** The result and time of the last reconcile of each. */
  readonly #reconciles = new Map<Key, { waits: boolean; at: Millis }>();

  /** @param now - monotonic, as all times here */
  constructor(now: Millis) {
    this.#since = now;
  }

  reconciled(rollout: Key, waits: boolean, now: Millis): void {
    this.#reconciles.set(rollout, { waits, at: now });
  }

  forget(rollout: Key): void {
    this.#reconciles.delete(rollout);
  }

  /** Rollouts before this one in the queue, in order. @param all - every rollout, including this one */
  ahead(rollout: Key, now: Millis, all: readonly InLine[]): Key[] {
    const isInLine = ({ key, waits }: InLine): boolean => {
      const last = this.#reconciles.get(key) ?? { waits, at: this.#since };
      return key === rollout || (last.waits && now - last.at <= STALE_MS);
    };
    const order = all.filter(isInLine).toSorted((a, b) => a.servedAt - b.servedAt || (a.key < b.key ? -1 : 1));
    const own = order.findIndex(({ key }) => key === rollout);
    return order.slice(0, Math.max(0, own)).map(({ key }) => key);
  }

  /** Rollouts that may get the next free place, as far as this process knows. */
  get waiting(): Key[] {
    return [...this.#reconciles].filter(([, { waits }]) => waits).map(([key]) => key);
  }
}

/** @param now - wall clock: a touch in the future, after the clock was set, is ignored */
export function inLine(rollout: Readonly<NodeConfigRollout>, now: Millis): InLine {
  const { name = '', deletionTimestamp } = rollout.metadata;
  const { touches, waitsFor } = readStatus(rollout);
  const last = Math.max(0, ...(touches?.nodes ?? []).map(({ at }) => Date.parse(at)));
  return {
    key: name,
    servedAt: last > now + SKEW_MS ? 0 : last,
    waits: waitsFor === CLUSTER_WAIT && deletionTimestamp === undefined,
  };
}

import type { NodeConfigRollout, Touch } from '../types.ts';
import type { Millis } from '../../../base/clock.ts';
import type { WakeUp } from '../../common/reconcile.ts';
import { MAX_RECORDED } from './record.ts';
import type { Key } from '../../../kube/cache/contract.ts';

/** What `status.waitsFor` says where the budget of the cluster keeps a rollout from going on. */
export const CLUSTER_WAIT = 'ClusterMaxUnavailable';

/** A touch of any rollout, written down before the node is. */
export interface ClusterTouch extends Touch {
  /** Name of the rollout that touches it. */
  rollout: string;
  /** It is drained first; absent: it is assigned the revision. */
  drain?: true;
}

/** The nodes of the cluster, where `--rollout-max-unavailable` says how many of them may be unavailable at once. */
export interface ClusterFacts {
  /** As the flag has it: a number or a percentage. */
  budget: string;
  size: number;
  /** How many may be unavailable. */
  most: number;
  /** How many are, those that are about to be touched included. */
  unavailable: number;
  /** Whether this one is, as far as the caches show. */
  isUnavailable: (node: string) => boolean;
  /**
   * Touches of all rollouts that the caches do not show, by node. Those for which `isOld` holds are written down again before they are done: this process did
   * not do so a moment ago.
   */
  pending: ReadonlyMap<string, ClusterTouch>;
  isOld: (touch: ClusterTouch) => boolean;
  /** Unavailable nodes that failed in another rollout, which has not stopped: it does not take them back. */
  failedElsewhere: number;
  /** Rollouts that have waited longer for a place in the cluster: each has the next one kept for it. */
  ahead: readonly string[];
  /** The budget that the API server's record names; undefined: there is no record. */
  recorded: string | undefined;
}

/** How often a rollout that waits for a place is looked at, in ms, beside changes of nodes. */
const LOOK_AGAIN_MS: Millis = 30_000;

export const placeWakeUp: WakeUp = { requeueAfter: LOOK_AGAIN_MS, why: 'the limit of --rollout-max-unavailable' };

type Of = ClusterFacts | undefined;

/** Nodes of the cluster that may become unavailable beside those that are; Infinity: it has no budget. Below 0 where more are than may be. */
export function placesOf(cluster: Of, { isBack = false } = {}): number {
  if (cluster === undefined) return Infinity;
  // What goes back leaves nobody a place: what runs now is worse.
  return cluster.most - cluster.unavailable - (isBack ? 0 : cluster.ahead.length);
}

/** Hands out places, in the order in which it is asked. @returns whether this node may be touched */
export function placesFor(cluster: Of, places: number): (node: string) => boolean {
  let left = places;
  return (node) => {
    if (cluster === undefined || cluster.isUnavailable(node)) return true;
    // A place that was taken for it a moment ago is its own, unless more nodes have gone down since than there were places left.
    if (cluster.pending.has(node)) return cluster.unavailable <= cluster.most;
    if (left <= 0) return false;
    left -= 1;
    return true;
  };
}

/** Touches that may be written down beside those that are. */
export const recordsLeft = (cluster: Of): number => (cluster === undefined ? Infinity : Math.max(0, MAX_RECORDED - cluster.pending.size));

/** Why a rollout waits. It names no number that changes with every node. */
export function whyNoPlace({ budget, most, size, unavailable, ahead }: ClusterFacts): string {
  if (most > unavailable && ahead.length > 0)
    return `the next node that --rollout-max-unavailable allows is for rollout ${ahead[0]}, which has waited longer`;
  const of = budget.endsWith('%') ? `, ${budget} of ${size}` : '';
  return `the whole cluster has as many unavailable nodes as --rollout-max-unavailable allows (${most}${of})`;
}

/**
 * Failed nodes, of this rollout and others, have all the places of the cluster: nothing would go on. A rollout that has one of them stops as if they were as
 * many as its own `maxUnavailable`.
 */
export function isFullOfFailures(cluster: Of, failures: readonly { node: string }[]): boolean {
  if (cluster === undefined) return false;
  const own = failures.filter(({ node }) => cluster.isUnavailable(node)).length;
  return own > 0 && own + cluster.failedElsewhere >= cluster.most;
}

/** A rollout that waits and was not looked at for longer than this keeps no place, in ms: its looks fail. */
const STALE_MS: Millis = 90_000;
/** Clocks of two machines differ by this, in ms. */
const SKEW_MS: Millis = 60_000;

/** A rollout, as its status has it. */
interface InLine {
  key: Key;
  /** When it touched a node last; ms since the epoch, 0: never. */
  servedAt: Millis;
  /** It waits for a place in the cluster. */
  waits: boolean;
}

/**
 * Rollouts that wait for a place in the cluster. The one that touched a node the longest time ago is the first, and any other leaves a place for each that
 * is before it: so none waits for ever while others go on. When each touched one is in its status, so that every process has the same order. What a status says
 * of waiting may be old: it counts until the rollout is looked at.
 */
export class Turns {
  readonly #since: Millis;
  /** What the last look at each came to, and when that was. */
  readonly #looks = new Map<Key, { waits: boolean; at: Millis }>();

  /** @param now - all times are of the clock that nobody sets */
  constructor(now: Millis) {
    this.#since = now;
  }

  said(rollout: Key, waits: boolean, now: Millis): void {
    this.#looks.set(rollout, { waits, at: now });
  }

  forget(rollout: Key): void {
    this.#looks.delete(rollout);
  }

  /** Who has its turn before this one, the first one first. @param all - every rollout, this one too */
  ahead(rollout: Key, now: Millis, all: readonly InLine[]): Key[] {
    const isInLine = ({ key, waits }: InLine): boolean => {
      const look = this.#looks.get(key) ?? { waits, at: this.#since };
      return key === rollout || (look.waits && now - look.at <= STALE_MS);
    };
    const order = all.filter(isInLine).toSorted((a, b) => a.servedAt - b.servedAt || (a.key < b.key ? -1 : 1));
    const own = order.findIndex(({ key }) => key === rollout);
    return order.slice(0, Math.max(0, own)).map(({ key }) => key);
  }

  /** Those that the next free place may be for, as far as this process has looked. */
  get waiting(): Key[] {
    return [...this.#looks].filter(([, { waits }]) => waits).map(([key]) => key);
  }
}

/** @param now - wall clock: a time that has yet to come, since the clock was set, says nothing */
export function inLine({ metadata: { name = '', deletionTimestamp }, status = {} }: Readonly<NodeConfigRollout>, now: Millis): InLine {
  const last = Math.max(0, ...(status.touches?.nodes ?? []).map(({ at }) => Date.parse(at)));
  return {
    key: name,
    servedAt: last > now + SKEW_MS ? 0 : last,
    waits: status.waitsFor === CLUSTER_WAIT && deletionTimestamp === undefined,
  };
}

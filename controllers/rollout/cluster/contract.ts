import type { Touch } from '../types.ts';

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

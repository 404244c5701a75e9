import type { Budget } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { WhatIf } from '../engine/node-trial.ts';

/** What is asked when a pod was refused everywhere and may be more important than others. */
export interface PreemptionFacts {
  readonly pod: PodInfo;
  /** Nodes in the cluster. */
  readonly nodes: number;
  /** Nodes where pods in the way can be removed, in the cluster's order; each is tried at most once. `lowest` is the lowest priority on it, +Infinity when it is empty. */
  readonly candidates: readonly { readonly node: string; readonly lowest: number; tryOut(): WhatIf }[];
  readonly budgets: readonly Readonly<Budget>[];
  /** Where among the candidates to begin: 0 to candidates.length - 1. */
  readonly offset: number;
  readonly limits: { readonly minCandidateNodesPercentage: number; readonly minCandidateNodesAbsolute: number };
  /** When it is, for pods that have not started: ISO 8601. */
  readonly now: string;
}

/** Who would have to go for the pod to be on this node. */
export interface Candidate {
  readonly node: string;
  /** Most important first. Never empty. */
  readonly victims: readonly PodInfo[];
  /** Victims whose going breaks a disruption budget. */
  readonly violations: number;
}

export interface PreemptionPlan {
  /** In the order in which they were found. */
  readonly candidates: readonly Candidate[];
  /** Why nodes that were tried are no candidates, as users read it, and of how many nodes that is true. */
  readonly refused: ReadonlyMap<string, number>;
}

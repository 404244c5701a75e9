import type { Budget } from '../types.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { WhatIf } from '../engine/node-trial.ts';
import type { Millis } from '../../base/clock.ts';

interface EligibilityFacts {
  readonly pod: PodInfo;
  readonly nominated: NominatedNode | undefined;
}

/** The node that a pod is nominated for. */
export interface NominatedNode {
  /** Whether preemption on it could help, as the last attempt found. */
  readonly resolvable: boolean;
  /** Pods on it; none when the node was deleted. */
  readonly pods: readonly PodInfo[];
  /** Whether the pod is a victim whose deletion the cache does not show yet. @default none is */
  readonly isVictim?: (pod: PodInfo) => boolean;
}

/** Condition of pods that are about to be terminated for a disruption, and its reason for preemption by a scheduler. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
export const PREEMPTED_BY_SCHEDULER = 'PreemptionByScheduler';

/** Why a pod may not preempt others, as users read it; undefined when it may. */
export function whyNotEligible({ pod, nominated }: EligibilityFacts): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  // No preemption can make the nominated node feasible: waiting for its terminating pods would not help.
  if (nominated === undefined || !nominated.resolvable) return undefined;
  const { pods, isVictim = () => false } = nominated;
  const hasTerminatingVictim = pods.some((other) => other.priority < pod.priority && (isTerminatingVictim(other) || isVictim(other)));
  return hasTerminatingVictim ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

/** Whether the pod is terminating because a scheduler preempted it. */
function isTerminatingVictim({ terminating, pod }: PodInfo): boolean {
  return terminating && isTarget(pod);
}

/** Whether the pod has the condition already. */
export function isTarget({ status }: PodInfo['pod']): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: holds, reason }) => type === DISRUPTION_TARGET && holds === 'True' && reason === PREEMPTED_BY_SCHEDULER,
    ) ?? false
  );
}

/** Input of the preemption plan for a pod that no node passed. */
export interface PreemptionFacts {
  readonly pod: PodInfo;
  /** Nodes in the cluster. */
  readonly nodes: number;
  /** Nodes where preemption may help, in the cluster's order; each is tried at most once. */
  readonly candidates: readonly PotentialNode[];
  readonly budgets: readonly Readonly<Budget>[];
  /** Where among the candidates to begin: 0 to candidates.length - 1. */
  readonly offset: number;
  readonly limits: { readonly minCandidateNodesPercentage: number; readonly minCandidateNodesAbsolute: number };
  /** Current time, used as the start of pods that have not started: ISO 8601. */
  readonly now: string;
}

/** A node where preemption may help. */
export interface PotentialNode {
  readonly node: string;
  /** Lowest priority of the pods on it; +Infinity when it is empty. */
  readonly lowest: number;
  /** Begins a trial of which pods have to go. */
  tryOut(): WhatIf;
}

/** A node, and the pods to preempt there for the pod to fit. */
export interface Candidate {
  readonly node: string;
  /** Most important first. Never empty. */
  readonly victims: readonly PodInfo[];
  /** Number of victims whose removal violates a PDB. */
  readonly violations: number;
}

export interface PreemptionPlan {
  /** In the order in which they were found. */
  readonly candidates: readonly Candidate[];
  /** Why nodes that were tried are no candidates, as text for users, with the number of nodes. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Makes the least priority 0: many victims of negative priority must not weigh less than one. Sums stay exact below two million victims. */
const SHIFT = 2 ** 31;

/**
 * The best candidate, as in pickOneNodeForPreemption of kube-scheduler: fewest PDB violations, then the lowest priority of the highest-priority victim, the
 * smallest sum of priorities, the fewest victims, the latest start of the highest-priority victims, and among equals the first. Pure.
 * @param now - for pods that have not started: ISO 8601
 * @returns undefined when there are none
 */
export function pickOneNode(candidates: readonly Candidate[], now: string): Candidate | undefined {
  const nowMs = Date.parse(now);
  const costs: readonly ((candidate: Candidate) => number)[] = [
    ({ violations }) => violations,
    highestPriority,
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + SHIFT, 0),
    ({ victims }) => victims.length,
    (candidate) => -earliestStart(candidate, nowMs),
  ];
  let best = candidates;
  for (const cost of costs) {
    if (best.length <= 1) break;
    best = cheapest(best, cost);
  }
  return best[0];
}

function cheapest(candidates: readonly Candidate[], cost: (candidate: Candidate) => number): Candidate[] {
  let least = Infinity;
  let those: Candidate[] = [];
  for (const candidate of candidates) {
    const its = cost(candidate);
    if (its > least) continue;
    if (its < least) those = [];
    least = its;
    those.push(candidate);
  }
  return those;
}

/** All victims are compared: extenders may have left out the first, or changed their order. */
function highestPriority({ victims }: Candidate): number {
  return victims.reduce((highest, { priority }) => Math.max(highest, priority), -SHIFT);
}

/** The earliest start time of the victims with the highest priority. */
function earliestStart(candidate: Candidate, now: Millis): Millis {
  const highest = highestPriority(candidate);
  let earliest = Infinity;
  for (const victim of candidate.victims) if (victim.priority === highest) earliest = Math.min(earliest, startOf(victim, now));
  return earliest;
}

/** Start time of a pod; now for one that has not started, as it loses least. */
function startOf({ pod }: PodInfo, now: Millis): Millis {
  const started = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(started) ? now : started;
}

/** Order of importance: by priority, then by age, then by name, so that the same pods always give the same order. */
export function byImportance(now: Millis): (a: PodInfo, b: PodInfo) => number {
  return (a, b) => b.priority - a.priority || startOf(a, now) - startOf(b, now) || order(a.key, b.key) || order(a.uid, b.uid);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { Millis } from '../../base/clock.ts';
import type { WhatIf } from '../engine/node-trial.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { byImportance, type Candidate, type PreemptionFacts, type PreemptionPlan } from './candidates.ts';
import { type LabelSelector, matchesLabels } from '../../kube/api/selector.ts';
import { readSelector } from '../pod/selectors.ts';
import type { Budget } from '../types.ts';

/** Message for a node without pods of lower priority. */
export const NO_VICTIMS = 'No preemption victims found for incoming pod';

/**
 * The victims that the pod needs, node by node. In large clusters not all nodes are tried: once there are enough candidates, and one of them violates no PDB,
 * the others would hardly be better. Pure but for the trials, which change nothing outside.
 */
export function planPreemption({ pod, candidates, budgets, offset, limits, now }: PreemptionFacts): PreemptionPlan {
  const count = candidates.length;
  const share = Math.floor((count * limits.minCandidateNodesPercentage) / 100);
  const wanted = Math.min(count, Math.max(share, limits.minCandidateNodesAbsolute));
  const rules = { priority: pod.priority, allowances: allowancesOf(budgets), now: Date.parse(now) };
  const found: Candidate[] = [];
  const refused = new Map<string, number>();
  const refuse = (reason: string): void => void refused.set(reason, (refused.get(reason) ?? 0) + 1);
  let harmless = false;
  let empty = 0;
  for (let tried = 0; tried < count && !(harmless && found.length >= wanted); tried++) {
    const at = candidates[(offset + tried) % count];
    if (at === undefined) throw new RangeError(`offset ${offset} is none of ${count} nodes`);
    if (at.lowest >= pod.priority) {
      empty += 1; // counted apart: in a full cluster of pods of one priority this happens for every node
      continue;
    }
    const verdict = victimsOn(at.tryOut(), rules);
    if ('victims' in verdict) {
      found.push(verdict);
      harmless ||= verdict.violations === 0;
    } else for (const reason of verdict.reasons) refuse(reason);
  }
  if (empty > 0) refused.set(NO_VICTIMS, (refused.get(NO_VICTIMS) ?? 0) + empty);
  return { candidates: found, refused };
}

interface Rules {
  readonly priority: number;
  readonly allowances: Allowances;
  readonly now: Millis;
}

/** The fewest and least important victims: all pods of lower priority are removed, then each is reprieved with which the pod still fits. */
function victimsOn(trial: WhatIf, { priority, allowances, now }: Rules): Candidate | { reasons: readonly string[] } {
  const lesser = trial.pods.filter((other) => other.priority < priority);
  if (lesser.length === 0) return { reasons: [NO_VICTIMS] };
  for (const other of lesser) trial.remove(other);
  if (!trial.fits()) return { reasons: trial.reasons() };
  const order = byImportance(now);
  const { violating, others } = splitByBudgets(lesser.toSorted(order), allowances);
  const mustGo = (other: PodInfo): boolean => {
    trial.add(other);
    if (trial.fits()) return false;
    trial.remove(other);
    return true;
  };
  // Pods whose removal violates a PDB are reprieved first, also before more important ones.
  const broken = violating.filter(mustGo);
  const victims = [...broken, ...others.filter(mustGo)].toSorted(order);
  // The pod fits without any victim, although its attempt failed here: there is nothing to preempt.
  if (victims.length === 0) return { reasons: [NO_VICTIMS] };
  return { node: trial.node, victims, violations: broken.length };
}

interface Allowance {
  readonly selector: LabelSelector;
  readonly allowed: number;
  /** Names of pods whose disruption the server has counted already. */
  readonly counted: Readonly<Record<string, unknown>>;
}

/** PodDisruptionBudgets, read once for all nodes of an attempt. */
export type Allowances = ReadonlyMap<string, readonly Allowance[]>;

const none: Readonly<Record<string, unknown>> = {};

/**
 * By namespace. As in kube-scheduler, a PDB of any version without a selector, or with an empty one, protects no pod here, although for evictions an empty
 * selector of `policy/v1` selects every pod.
 */
function allowancesOf(budgets: readonly Readonly<Budget>[]): Allowances {
  const all = new Map<string, Allowance[]>();
  for (const { metadata, spec, status } of budgets) {
    const selector = spec?.selector ? readSelector(spec.selector) : undefined;
    if (selector === undefined || selector.length === 0) continue;
    const allowance = { selector, allowed: status?.disruptionsAllowed ?? 0, counted: status?.disruptedPods ?? none };
    const { namespace = '' } = metadata;
    const there = all.get(namespace);
    if (there === undefined) all.set(namespace, [allowance]);
    else there.push(allowance);
  }
  return all;
}

/** Splits `pods` into those whose removal violates a PDB, removed one after the other in this order, and the others. */
function splitByBudgets(pods: readonly PodInfo[], allowances: Allowances): { violating: PodInfo[]; others: PodInfo[] } {
  if (allowances.size === 0) return { violating: [], others: [...pods] };
  const left = new Map<Allowance, number>();
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let breaks = false;
    for (const allowance of allowancesFor(pod, allowances)) {
      const remaining = (left.get(allowance) ?? allowance.allowed) - 1;
      left.set(allowance, remaining);
      if (remaining < 0) breaks = true;
    }
    (breaks ? violating : others).push(pod);
  }
  return { violating, others };
}

/** No PDB matches a pod without labels, not even one that requires the absence of a label. */
function allowancesFor({ namespace, name, labels }: PodInfo, allowances: Allowances): readonly Allowance[] {
  const there = allowances.get(namespace);
  if (there === undefined || Object.keys(labels).length === 0) return [];
  return there.filter(({ selector, counted }) => !Object.hasOwn(counted, name) && matchesLabels(selector, labels));
}

import type { Millis } from '../../base/clock.ts';
import type { WhatIf } from '../engine/what-if.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate, PreemptionFacts, PreemptionPlan } from './contract.ts';
import { allowancesOf, splitByBudgets, type Allowances } from './disruption.ts';
import { byImportance } from './importance.ts';

/** Of a node where nobody is less important than the pod. */
export const NO_VICTIMS = 'No preemption victims found for incoming pod';

/**
 * Who would have to go, node by node, for the pod to find a place. Not all nodes are tried where there are many: once enough candidates are known, and one of
 * them breaks no budget, the others would hardly be better. Pure but for the trials, which change nothing outside.
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
      empty += 1; // counted by itself: on a full cluster of equals this is all that happens, for every node
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

/** As few as possible, and the least important: all that are less important than the pod go, then each comes back that leaves it enough room. */
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
  // Those that a budget protects come back first, also before others that are more important.
  const broken = violating.filter(mustGo);
  const victims = [...broken, ...others.filter(mustGo)].toSorted(order);
  // The pod fits with everybody there, which its attempt had denied: removals that free nothing would help nobody.
  if (victims.length === 0) return { reasons: [NO_VICTIMS] };
  return { node: trial.node, victims, violations: broken.length };
}

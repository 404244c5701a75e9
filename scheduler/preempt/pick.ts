import type { Millis } from '../../base/clock.ts';
import type { Candidate } from './contract.ts';
import type { PodInfo } from '../pod/pod-info.ts';

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
export function startOf({ pod }: PodInfo, now: Millis): Millis {
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

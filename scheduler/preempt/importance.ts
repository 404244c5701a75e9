import type { Millis } from '../../base/clock.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** When a pod started. One that has not started counts as if it did now: it has least to lose. */
export function startOf({ pod }: PodInfo, now: Millis): Millis {
  const started = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(started) ? now : started;
}

/** Most important first: by priority, then by age. Among equals the name decides, so that the same pods always give the same order. */
export function byImportance(now: Millis): (a: PodInfo, b: PodInfo) => number {
  return (a, b) => b.priority - a.priority || startOf(a, now) - startOf(b, now) || order(a.key, b.key) || order(a.uid, b.uid);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

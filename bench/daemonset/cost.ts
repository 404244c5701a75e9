import type { Usage } from './proc.ts';

/** What a stretch of time has cost. */
export interface Stretch {
  wallMs: number;
  cpuMs: number;
}

/**
 * Processor time of one event, without what the process would have spent on doing nothing for as long.
 * @param idle - a stretch without events
 * @throws RangeError without events
 */
export function perEventMs(events: number, busy: Stretch, idle: Stretch): number {
  if (events < 1) throw new RangeError('there is no cost of no event');
  return Math.max(0, busy.cpuMs - idle.cpuMs * (busy.wallMs / idle.wallMs)) / events;
}

/** From one reading of a process and a clock to the next. */
export function stretch(from: { usage: Usage; atMs: number }, to: { usage: Usage; atMs: number }): Stretch {
  return { wallMs: to.atMs - from.atMs, cpuMs: to.usage.cpuMs - from.usage.cpuMs };
}

/** Which goes first in a round: each as often as the other. */
export function inTurn<T>(round: number, subjects: readonly [T, T]): readonly [T, T] {
  return round % 2 === 0 ? subjects : [subjects[1], subjects[0]];
}

/**
 * Of a DaemonSet, as the server has it: every pod is there, up to date, and counted.
 * @param ready - also ready and available
 */
export function isDone(set: DaemonSetState, nodes: number, ready: boolean): boolean {
  const {
    observedGeneration,
    desiredNumberScheduled,
    currentNumberScheduled,
    updatedNumberScheduled,
    numberMisscheduled = 0,
  } = set.status ?? {};
  const { numberReady = 0, numberAvailable = 0 } = set.status ?? {};
  const counts = [desiredNumberScheduled, currentNumberScheduled, updatedNumberScheduled, ...(ready ? [numberReady, numberAvailable] : [])];
  return observedGeneration === set.metadata.generation && numberMisscheduled === 0 && counts.every((count) => count === nodes);
}

export interface DaemonSetState {
  metadata: { generation?: number };
  status?: {
    observedGeneration?: number;
    desiredNumberScheduled?: number;
    currentNumberScheduled?: number;
    updatedNumberScheduled?: number;
    numberMisscheduled?: number;
    numberReady?: number;
    numberAvailable?: number;
  };
}

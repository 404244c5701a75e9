import type { Usage } from './proc.ts';

/** Costs in a period of time. */
export interface Stretch {
  wallMs: number;
  cpuMs: number;
}

/**
 * CPU time of one event, without the CPU time of an idle process in the same period.
 * @param idle - a period without events
 * @throws RangeError without events
 */
export function perEventMs(events: number, busy: Stretch, idle: Stretch): number {
  if (events < 1) throw new RangeError('there is no cost of no event');
  return Math.max(0, busy.cpuMs - idle.cpuMs * (busy.wallMs / idle.wallMs)) / events;
}

/** Costs between two readings of a process and a clock. */
export function stretch(from: { usage: Usage; atMs: number }, to: { usage: Usage; atMs: number }): Stretch {
  return { wallMs: to.atMs - from.atMs, cpuMs: to.usage.cpuMs - from.usage.cpuMs };
}

/** Order of the two subjects in a round: each is first equally often. */
export function inTurn<T>(round: number, subjects: readonly [T, T]): readonly [T, T] {
  return round % 2 === 0 ? subjects : [subjects[1], subjects[0]];
}

/**
 * Whether the status of a DaemonSet reports all pods as created and updated.
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

import type { Meters } from '../../kube/process/meters.ts';
import type { SchedulerState } from './state.ts';

/** What a scheduler counts, under upstream names. Times in seconds. */
export interface SchedulerMetrics {
  attempt(result: 'scheduled' | 'unschedulable' | 'error', seconds: number): void;
  /** @param seconds - from when the pod first wanted a place to when it was bound */
  bound(attempts: number, seconds: number): void;
  preempted(victims: number): void;
  binding(result: 'bound' | 'error', seconds: number): void;
}

const DECISION = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 1];
const WAIT = [0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10, 20, 60, 300];
const MAX_ATTEMPTS = 15;

export function schedulerMetrics(meters: Meters, { queue, cluster }: Pick<SchedulerState, 'queue' | 'cluster'>): SchedulerMetrics {
  const attempts = meters.counter('scheduler_schedule_attempts_total', 'Attempts to find a place for a pod, by result', ['result']);
  const decision = meters.histogram('scheduler_scheduling_algorithm_duration_seconds', 'Time to decide where a pod goes', {
    buckets: DECISION,
  });
  const sli = meters.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'Time from when a pod first wanted a place to when it was bound, by attempts',
    { labelNames: ['attempts'], buckets: WAIT },
  );
  const preemptions = meters.counter('scheduler_preemption_attempts_total', 'Times that room was made for a pod');
  const victims = meters.histogram('scheduler_preemption_victims', 'Pods that had to go for one', { buckets: [1, 2, 4, 8, 16, 32, 64] });
  const bindings = meters.histogram('scheduler_binding_duration_seconds', 'Time that a binding took, volumes included, by result', {
    labelNames: ['result'],
    buckets: WAIT,
  });
  meters.gauges('scheduler_pending_pods', 'Pods without a place, by where they wait', 'queue', () => queue.sizes);
  meters.gauge('scheduler_binding_pods', 'Pods that are being bound', () => queue.inFlight);
  meters.gauges('scheduler_cache_size', 'What the scheduler counts with', 'type', () => ({
    nodes: cluster.nodeCount,
    pods: cluster.podCount,
  }));
  return {
    attempt: (result, seconds) => {
      attempts({ result });
      decision(seconds);
    },
    bound: (count, seconds) => sli(seconds, { attempts: count > MAX_ATTEMPTS ? `${MAX_ATTEMPTS + 1}+` : `${count}` }),
    preempted: (count) => {
      preemptions();
      victims(count);
    },
    binding: (result, seconds) => bindings(seconds, { result }),
  };
}

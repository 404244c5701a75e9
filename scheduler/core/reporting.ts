import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Meters, Runtime } from '../../kube/process/contract.ts';
import type { SchedulerState } from './state.ts';

/** The event recorder of the profile with this name, or of the first profile if there is none. */
export type ProfileEvents = (schedulerName: string) => EventRecorder;

/**
 * Events of a pod are recorded in the name of its profile, as in kube-scheduler: `reportingController` (and `source.component`) is the profile's name,
 * `reportingInstance` is that name and the host name.
 * @param profiles - at least one
 */
export function profileEvents({ events, hostName }: Pick<Runtime, 'events' | 'hostName'>, profiles: Iterable<string>): ProfileEvents {
  const recorders = new Map([...profiles].map((name) => [name, events(name, `${name}-${hostName}`)]));
  const [first = events('dkc-scheduler')] = recorders.values();
  return (schedulerName) => recorders.get(schedulerName) ?? first;
}

/** Metrics of the scheduler, under upstream names. Times in seconds. */
export interface SchedulerMetrics {
  /** Result of an attempt: if it found a node, `scheduled` once the pod is bound, `error` if binding failed. */
  attempt(profile: string, result: 'scheduled' | 'unschedulable' | 'error'): void;
  decided(seconds: number): void;
  /** @param seconds - from when the pod entered the queue to when it was bound */
  bound(attempts: number, seconds: number): void;
  preempted(victims: number): void;
  binding(result: 'bound' | 'error', seconds: number): void;
}

const DECISION = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 1];
const WAIT = [0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10, 20, 60, 300];
const MAX_ATTEMPTS = 15;

export function schedulerMetrics(meters: Meters, { queue, cluster }: Pick<SchedulerState, 'queue' | 'cluster'>): SchedulerMetrics {
  const attempts = meters.counter('scheduler_schedule_attempts_total', 'Number of attempts to schedule pods, by profile and result', [
    'profile',
    'result',
  ]);
  const decision = meters.histogram('scheduler_scheduling_algorithm_duration_seconds', 'Duration of a scheduling decision', {
    buckets: DECISION,
  });
  const sli = meters.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'Time from when a pod entered the queue until it was bound, by number of attempts',
    { labelNames: ['attempts'], buckets: WAIT },
  );
  const preemptions = meters.counter('scheduler_preemption_attempts_total', 'Number of preemption attempts');
  const victims = meters.histogram('scheduler_preemption_victims', 'Number of victims of one preemption', {
    buckets: [1, 2, 4, 8, 16, 32, 64],
  });
  const bindings = meters.histogram('scheduler_binding_duration_seconds', 'Duration of a binding cycle, volumes included, by result', {
    labelNames: ['result'],
    buckets: WAIT,
  });
  meters.gauges('scheduler_pending_pods', 'Number of pending pods, by queue', 'queue', () => queue.sizes);
  meters.gauge('scheduler_binding_pods', 'Number of pods that are being scheduled or bound', () => queue.inFlight);
  meters.gauges('scheduler_cache_size', 'Number of objects in the scheduler cache, by type', 'type', () => ({
    nodes: cluster.nodeCount,
    pods: cluster.podCount,
  }));
  return {
    attempt: (profile, result) => attempts({ profile, result }),
    decided: (seconds) => decision(seconds),
    bound: (count, seconds) => sli(seconds, { attempts: count > MAX_ATTEMPTS ? `${MAX_ATTEMPTS + 1}+` : `${count}` }),
    preempted: (count) => {
      preemptions();
      victims(count);
    },
    binding: (result, seconds) => bindings(seconds, { result }),
  };
}

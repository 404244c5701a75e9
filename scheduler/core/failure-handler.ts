import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import { executePreemption } from '../preempt/execute.ts';
import type { Failure, QueuedPod } from '../queue/contract.ts';
import { shortIn } from '../queue/hints/node.ts';
import type { BackgroundTasks } from './loop.ts';
import type { SchedulerHooks } from './hooks.ts';
import type { ProfileEvents, SchedulerMetrics } from './reporting.ts';
import type { Unschedulable } from './scheduling-cycle.ts';
import type { SchedulerState } from './state.ts';
import type { StatusWriter, Wanted } from './status-writer.ts';

export interface FailureHandlerOptions {
  state: SchedulerState;
  hooks: Pick<SchedulerHooks, 'onUnschedulable'>;
  client: Pick<Client, 'get' | 'patch' | 'delete'>;
  statuses: StatusWriter;
  events: ProfileEvents;
  tasks: BackgroundTasks;
  metrics: SchedulerMetrics;
  clock: Clock;
  log: Log;
}

/** Delay until the pod is retried after the deletion of a victim failed. */
const PREEMPTION_RETRY_MS: Millis = 1_000;

const about = { resource: pods };

/** Handles a pod that was not scheduled or not bound: requeues it, reports the reason in its status and in an event, and deletes its victims. */
export class FailureHandler {
  readonly #options: FailureHandlerOptions;
  readonly #reported = new ReportedFailures();

  constructor(options: FailureHandlerOptions) {
    this.#options = options;
  }

  /** No node passed. @returns resolves when the preemption has ended; undefined without victims */
  unschedulable(
    queued: QueuedPod,
    pod: PodInfo,
    { error, postFilter, equivalenceClass }: Unschedulable,
    signal: AbortSignal,
  ): Promise<void> | undefined {
    const { state, hooks, tasks, metrics } = this.#options;
    const failure: Failure =
      error.by.size === 0 ? { why: 'error' } : { why: 'refused', by: error.by, short: shortIn(error.reasons.keys()), equivalenceClass };
    const { nominate, unnominated } = state.pending.unschedulable(queued, pod, failure, postFilter);
    hooks.onUnschedulable(pod);
    metrics.attempt(pod.schedulerName, 'unschedulable');
    const { message, chosen } = postFilter;
    this.#report(pod, { reason: 'Unschedulable', message, nominate }, signal);
    return chosen && tasks.run('preemption', this.#preempt(pod, chosen, unnominated, signal), signal);
  }

  /**
   * The attempt failed with an error: the pod is retried with growing backoff.
   * @param wasNominated - the status of the pod may have a nominatedNodeName that the caches do not show yet. @default false
   */
  error(queued: QueuedPod, pod: PodInfo, message: string, signal: AbortSignal, wasNominated = false): void {
    const { state, metrics } = this.#options;
    const { nominate = wasNominated ? '' : undefined } = state.pending.failed(queued, pod);
    metrics.attempt(pod.schedulerName, 'error');
    this.#report(pod, { reason: 'SchedulerError', message, nominate }, signal);
  }

  /** The pod is terminating and was never assigned to a node. */
  skippedTerminating({ pod, key, schedulerName }: PodInfo): void {
    this.#options
      .events(schedulerName)
      .event(pod, 'Warning', 'FailedScheduling', `skip schedule deleting pod: ${key}`, { ...about, action: 'Scheduling' });
  }

  /** The pod is bound: a later failure under this uid is reported at once. */
  forget(uid: string): void {
    this.#reported.forget(uid);
  }

  #report(pod: PodInfo, wanted: Wanted, signal: AbortSignal): void {
    const { state, statuses } = this.#options;
    this.#sendEvent(pod, wanted.message, signal);
    statuses.write(state.latest(pod.key) ?? pod, wanted, signal);
  }

  #sendEvent(pod: PodInfo, message: string, signal: AbortSignal): void {
    const { state, events, clock } = this.#options;
    const wait = this.#reported.waits(pod.uid, message, clock.monotonic());
    if (wait === 0) events(pod.schedulerName).event(pod.pod, 'Warning', 'FailedScheduling', message, { ...about, action: 'Scheduling' });
    else if (wait !== undefined)
      clock.sleep(wait, signal).then(
        () => {
          const next = this.#reported.next(pod.uid);
          const latest = state.latest(pod.key);
          const stillWaits = latest?.uid === pod.uid && latest.nodeName === '' && state.cluster.placed(pod.uid) === undefined;
          if (next !== undefined && stillWaits) this.#sendEvent(latest, next, signal);
        },
        () => {},
      );
  }

  async #preempt(pod: PodInfo, { node, victims }: Candidate, unnominated: readonly PodInfo[], signal: AbortSignal): Promise<void> {
    const { state, client, clock, events, metrics, log } = this.#options;
    metrics.preempted(victims.length);
    const result = await executePreemption(
      {
        client,
        clock,
        recordEvent: (victim, { type, reason, action, note }) =>
          events(pod.schedulerName).event(victim, type, reason, note, { ...about, action }),
      },
      { preemptor: pod, node, victims, unnominate: unnominated },
      signal,
    );
    if (signal.aborted) return;
    for (const error of result.failures) log.warn('failed to preempt a pod, retrying', { for: pod.key, node, error: describeError(error) });
    for (const { pod: other, error } of result.stillNominated)
      log.warn('failed to clear nominatedNodeName of a pod that lost its node', { pod: other.key, node, error: describeError(error) });
    const failed = result.failures.length > 0;
    if (failed) {
      // The victims may survive, so they no longer count as victims. What prevented the deletion rarely ends at once: wait.
      state.pending.spared(victims);
      await clock.sleep(PREEMPTION_RETRY_MS, signal);
    }
    state.pending.preempted(pod, unnominated, failed);
  }
}

/** Minimum interval between two FailedScheduling events of a pod. */
const REPORT_INTERVAL_MS: Millis = 10_000;
/** Minimum interval before an event with the same message is repeated: servers drop events after an hour. */
const REPEAT_INTERVAL_MS: Millis = 30 * 60_000;
const MAX_REMEMBERED = 20_000;

/** What was reported last for a pending pod. */
interface Reported {
  readonly at: Millis;
  readonly message: string;
  /** A message that came before the interval had passed, and is still to be reported. */
  next: string | undefined;
}

/** Limits the rate of FailedScheduling events per pod. Bounded: beyond the limit, the pod that was reported the longest ago is forgotten. */
export class ReportedFailures {
  readonly #reported = new Map<string, Reported>();
  #last = '';

  /**
   * How long to wait before an event with this message is sent. 0: now, and the message counts as reported. Otherwise {@link next} returns the message to send.
   * @param now - monotonic @returns ms; undefined: send nothing, because the message was reported, or an earlier caller that still waits will report it
   */
  waits(uid: string, message: string, now: Millis): Millis | undefined {
    const known = this.#reported.get(uid);
    if (known !== undefined) {
      const isSame = known.message === message;
      const left = known.at + (isSame ? REPEAT_INTERVAL_MS : REPORT_INTERVAL_MS) - now;
      if (left > 0) {
        const isWaiting = known.next !== undefined;
        known.next = isSame ? undefined : this.#shared(message);
        return isSame || isWaiting ? undefined : left;
      }
    }
    this.#reported.delete(uid);
    if (this.#reported.size >= MAX_REMEMBERED) this.#forgetOldest();
    this.#reported.set(uid, { at: now, message: this.#shared(message), next: undefined });
    return 0;
  }

  /** The newest message that came before the interval had passed. Returned only once. */
  next(uid: string): string | undefined {
    const known = this.#reported.get(uid);
    const next = known?.next;
    if (known !== undefined) known.next = undefined;
    return next;
  }

  /** Thousands of pods that wait for the same resource mostly have the same message: the string is kept once. */
  #shared(message: string): string {
    if (message !== this.#last) this.#last = message;
    return this.#last;
  }

  forget(uid: string): void {
    this.#reported.delete(uid);
  }

  #forgetOldest(): void {
    const { value } = this.#reported.keys().next();
    if (value !== undefined) this.#reported.delete(value);
  }
}

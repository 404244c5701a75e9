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

/** After victims could not be deleted, the pod tries again so much later. */
const PREEMPT_AGAIN_MS: Millis = 1_000;

const about = { resource: pods };

/** A pod that was not scheduled, or not bound: puts it back into the queue, says why in its status and in an event, and deletes its victims. */
export class FailureHandler {
  readonly #options: FailureHandlerOptions;
  readonly #reported = new ReportedFailures();

  constructor(options: FailureHandlerOptions) {
    this.#options = options;
  }

  /** No node passed. @returns when all victims have been deleted; undefined without any */
  unschedulable(
    queued: QueuedPod,
    pod: PodInfo,
    { error, postFilter, equivalenceClass }: Unschedulable,
    signal: AbortSignal,
  ): Promise<void> | undefined {
    const { state, hooks, tasks, metrics } = this.#options;
    const failure: Failure =
      error.by.size === 0 ? { why: 'error' } : { why: 'refused', by: error.by, short: shortIn(error.reasons.keys()), equivalenceClass };
    const { nominate, unnominated } = state.unschedulable(queued, pod, failure, postFilter);
    hooks.onUnschedulable(pod);
    metrics.attempt(pod.schedulerName, 'unschedulable');
    const { message, chosen } = postFilter;
    this.#report(pod, { reason: 'Unschedulable', message, nominate }, signal);
    return chosen && tasks.run('preemption', this.#preempt(pod, chosen, unnominated, signal), signal);
  }

  /**
   * Something went wrong on the way: the pod will be retried, later each time.
   * @param wasNominated - its status may name a node, which the caches do not show yet. @default false
   */
  error(queued: QueuedPod, pod: PodInfo, message: string, signal: AbortSignal, wasNominated = false): void {
    const { state, metrics } = this.#options;
    const { nominate = wasNominated ? '' : undefined } = state.failed(queued, pod);
    metrics.attempt(pod.schedulerName, 'error');
    this.#report(pod, { reason: 'SchedulerError', message, nominate }, signal);
  }

  /** A pod is being deleted before it had a node. */
  skippedTerminating({ pod, key, schedulerName }: PodInfo): void {
    this.#options
      .events(schedulerName)
      .event(pod, 'Warning', 'FailedScheduling', `skip schedule deleting pod: ${key}`, { ...about, action: 'Scheduling' });
  }

  /** The pod is bound: should it fail again, under this uid, that is news. */
  forget(uid: string): void {
    this.#reported.forget(uid);
  }

  #report(pod: PodInfo, wanted: Wanted, signal: AbortSignal): void {
    const { state, statuses } = this.#options;
    this.#tell(pod, wanted.message, signal);
    statuses.write(state.latest(pod.key) ?? pod, wanted, signal);
  }

  #tell(pod: PodInfo, message: string, signal: AbortSignal): void {
    const { state, events, clock } = this.#options;
    const wait = this.#reported.waits(pod.uid, message, clock.monotonic());
    if (wait === 0) events(pod.schedulerName).event(pod.pod, 'Warning', 'FailedScheduling', message, { ...about, action: 'Scheduling' });
    else if (wait !== undefined)
      clock.sleep(wait, signal).then(
        () => {
          const next = this.#reported.next(pod.uid);
          const latest = state.latest(pod.key);
          const stillWaits = latest?.uid === pod.uid && latest.nodeName === '' && state.cluster.placed(pod.uid) === undefined;
          if (next !== undefined && stillWaits) this.#tell(latest, next, signal);
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
        tell: (victim, { type, reason, action, note }) => events(pod.schedulerName).event(victim, type, reason, note, { ...about, action }),
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
      // They may live on: what becomes of them later is another matter. Whatever keeps them is not over at once.
      state.spared(victims);
      await clock.sleep(PREEMPT_AGAIN_MS, signal);
    }
    state.preempted(pod, unnominated, failed);
  }
}

/** At most one event of this kind in so long, for each pod. */
const REPORT_AGAIN_MS: Millis = 10_000;
/** The same once more only now and then: servers forget events after an hour. */
const SAME_AGAIN_MS: Millis = 30 * 60_000;
const MAX_REMEMBERED = 20_000;

/** What the events of a pod that waits say of it. */
interface Reported {
  readonly at: Millis;
  readonly message: string;
  /** What came too soon after that, and is to be told still. */
  next: string | undefined;
}

/** Which events say already why pods wait. Bounded: of the pod that was reported the longest ago another one may be sent. */
export class ReportedFailures {
  readonly #reported = new Map<string, Reported>();
  #last = '';

  /**
   * When to send an event of this: 0 is now, and then it counts as reported; later, {@link next} has what is to be said then.
   * @param now - monotonic @returns ms; undefined: never, or whoever waits already will say it
   */
  waits(uid: string, message: string, now: Millis): Millis | undefined {
    const known = this.#reported.get(uid);
    if (known !== undefined) {
      const isSame = known.message === message;
      const left = known.at + (isSame ? SAME_AGAIN_MS : REPORT_AGAIN_MS) - now;
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

  /** The newest that came too soon after what was reported. */
  next(uid: string): string | undefined {
    const known = this.#reported.get(uid);
    const next = known?.next;
    if (known !== undefined) known.next = undefined;
    return next;
  }

  /** Thousands that wait for the same mostly have the same message: it is kept once. */
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

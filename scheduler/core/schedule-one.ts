import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError, unreachable } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { SettledCaches } from '../informers.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { BindingCycle, Scheduled } from './binding-cycle.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { SchedulerHooks } from './hooks.ts';
import type { SchedulerMetrics } from './reporting.ts';
import { usesExtenders, schedulingCycle, schedulingCycleWithExtenders, type Attempt, type ScheduleResult } from './scheduling-cycle.ts';
import { NO_VOLUMES, type SchedulerState } from './state.ts';

/** A pod that was popped from the queue. */
type Popped =
  | { is: 'skipped'; pod: PodInfo; isTerminating: boolean }
  /** The pod is malformed, or the scheduler failed to process it. */
  | { is: 'broken'; queued: QueuedPod; error: unknown }
  | ReadyPod;

/** A popped pod that still needs to be scheduled. */
interface ReadyPod extends Attempt {
  readonly is: 'ready';
}

export interface ScheduleOneOptions {
  state: SchedulerState;
  hooks: SchedulerHooks;
  binding: BindingCycle;
  failures: FailureHandler;
  extenders: Extenders | undefined;
  caches: SettledCaches;
  metrics: SchedulerMetrics;
  clock: Clock;
  log: Log;
}

/** How long a decision is prepared before the process handles other work. */
const SLICE_MS: Millis = 4;
const SLOW_MS: Millis = 100;

/**
 * Schedules one pod after the other: pop -> scheduling cycle (filter, score, or PostFilter) -> assume -> Reserve -> binding cycle, which runs concurrently with
 * the next pod; or the failure handler. From the decision to Reserve all is synchronous: no informer event is processed in between.
 */
export class ScheduleOne {
  readonly #options: ScheduleOneOptions;

  constructor(options: ScheduleOneOptions) {
    this.#options = options;
  }

  /** @returns whether there was a pod to schedule */
  async next(signal: AbortSignal): Promise<boolean> {
    const next = await this.#pop(signal);
    if (next.is === 'none') return false;
    if (this.#isReady(next, signal)) await this.#schedule(next, signal);
    return true;
  }

  /** Reports a pod that is not to be scheduled. */
  #isReady(next: Popped, signal: AbortSignal): next is ReadyPod {
    switch (next.is) {
      case 'skipped':
        if (next.isTerminating) this.#options.failures.skippedTerminating(next.pod);
        return false;
      case 'broken':
        this.#broken(next.queued, next.queued.info, next.error, signal);
        return false;
      case 'ready':
        return true;
      default:
        return unreachable(next);
    }
  }

  /** Pops the next pod and prepares the expensive parts of its decision, in slices between which the process handles other work. */
  async #pop(signal: AbortSignal): Promise<Popped | { is: 'none' }> {
    const { state, caches, clock } = this.#options;
    const queued = state.pending.pop();
    if (queued === undefined) return { is: 'none' };
    const next = this.#checkPopped(queued);
    if (next.is !== 'ready' || this.#isPrepared(next, clock.monotonic() + SLICE_MS)) return next;
    do await breathe();
    while (!signal.aborted && !this.#isPrepared(next, clock.monotonic() + SLICE_MS));
    // The caches may have changed between slices, or be in the middle of a relist. Rejects only when the signal aborts.
    while (!signal.aborted && !caches.settled) await caches.whenSettled(signal).catch(() => {});
    // The pod may have been replaced or deleted by now.
    return signal.aborted ? { is: 'none' } : this.#checkPopped(queued);
  }

  /** Whether a popped pod still needs to be scheduled. */
  #checkPopped(queued: QueuedPod): Popped {
    const { state } = this.#options;
    try {
      const latest = state.latest(queued.info.key);
      const pod = latest ?? queued.info;
      const profile = state.profileOf(pod);
      const isGone = latest === undefined || pod.uid !== queued.info.uid || pod.nodeName !== '' || profile === undefined;
      if (isGone || pod.terminating || state.cluster.placed(pod.uid) !== undefined) {
        state.pending.done(queued.info.uid);
        return { is: 'skipped', pod: queued.info, isTerminating: pod.terminating && !isGone };
      }
      if (pod.unreadable !== undefined) throw new TypeError(`the pod cannot be read: ${pod.unreadable}`);
      return { is: 'ready', queued, pod, profile };
    } catch (error) {
      return { is: 'broken', queued, error };
    }
  }

  #isPrepared({ pod, profile }: Attempt, until: Millis): boolean {
    const { state, clock } = this.#options;
    try {
      return state.engine.prepare(pod, profile, () => clock.monotonic() >= until);
    } catch {
      // The scheduling cycle will throw the same error and report it.
      return true;
    }
  }

  async #schedule(attempt: Attempt, signal: AbortSignal): Promise<void> {
    const { state, extenders, binding, failures } = this.#options;
    const { queued, pod } = attempt;
    const started = this.#options.clock.monotonic();
    const asked = extenders !== undefined && usesExtenders(extenders, pod);
    const extended = asked ? await schedulingCycleWithExtenders(state, extenders, attempt, signal) : undefined;
    // The pod may have been deleted, or bound by another scheduler, during the calls.
    if (asked && !this.#isReady(this.#checkPopped(queued), signal)) return;
    try {
      const result = verified(extended ?? schedulingCycle(state, attempt));
      this.#measure(pod, started);
      switch (result.result) {
        case 'scheduled': {
          const assumed = this.#assume(attempt, result.node);
          binding.start(assumed, signal);
          return;
        }
        case 'unschedulable': {
          const preempting = failures.unschedulable(queued, pod, result, signal);
          if (!state.config.preemption.async) await preempting;
          return;
        }
        case 'error':
          failures.error(queued, pod, result.message, signal);
          return;
        default:
          unreachable(result);
      }
    } catch (error) {
      this.#broken(queued, pod, error, signal);
    }
  }

  /** Assume and Reserve: from now on the pod counts on this node. */
  #assume({ queued, pod, profile }: Attempt, node: string): Scheduled {
    const { state, hooks } = this.#options;
    const on = state.cluster.node(node);
    const volumes = on?.node === undefined ? NO_VOLUMES : state.volumes.decide(pod, profile, on.node, [...on.pods.values()]);
    const assumed = state.assume(pod, node, volumes);
    assumed.reserved = hooks.onReserve(pod, node);
    return { queued, pod, node, volumes, assumed };
  }

  #measure(pod: PodInfo, started: Millis): void {
    const { state, metrics, clock, log } = this.#options;
    const ms = clock.monotonic() - started;
    if (ms > SLOW_MS) log.warn('slow scheduling decision', { pod: pod.key, ms: Math.round(ms), nodes: state.cluster.nodeCount });
    metrics.decided(ms / 1_000);
  }

  /** One malformed pod must not stop all others: its failure is reported, and it is retried with growing backoff. */
  #broken(queued: QueuedPod, pod: PodInfo, error: unknown, signal: AbortSignal): void {
    const { failures, log } = this.#options;
    const message = describeError(error);
    log.error('failed to schedule a pod, retrying', { pod: pod.key, error: message });
    try {
      failures.error(queued, pod, message, signal);
    } catch (failed) {
      log.error('failed to report that a pod was not scheduled', { pod: pod.key, error: describeError(failed) });
    }
  }
}

/** Checks a result once more right before it is used: the cluster may have changed during the calls to extenders. */
function verified(result: ScheduleResult): ScheduleResult {
  const changed = result.changed?.();
  return changed === undefined ? result : { result: 'error', message: `${changed} changed while extenders were asked` };
}

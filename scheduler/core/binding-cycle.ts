import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { VolumeBinder, VolumeDecision } from '../volumes/contract.ts';
import type { BackgroundTasks } from './background.ts';
import { refusedBy, type Binder, type Bound } from './binder.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { SchedulerMetrics } from './metrics.ts';
import type { ProfileEvents } from './profile-events.ts';
import type { AssumedPod, SchedulerState } from './state.ts';
import type { StatusWriter } from './status-writer.ts';

/** A pod that counts on its node already; the API server is still to hear of it. */
export interface Scheduled {
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly node: string;
  readonly volumes: VolumeDecision;
  readonly assumed: AssumedPod;
}

export interface BindingCycleOptions {
  state: SchedulerState;
  failures: FailureHandler;
  binder: Binder;
  volumes: VolumeBinder;
  statuses: StatusWriter;
  extenders: Extenders | undefined;
  events: ProfileEvents;
  tasks: BackgroundTasks;
  metrics: SchedulerMetrics;
  clock: Clock;
  log: Log;
}

/** PreBind, Bind and PostBind of each pod, beside the loop that decides about the next one. */
export class BindingCycle {
  readonly #options: BindingCycleOptions;
  #inFlight = 0;

  constructor(options: BindingCycleOptions) {
    this.#options = options;
  }

  /** Pods that the API server is being told of now; their volumes are bound. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** @param signal - ends it; whether the pod is bound is then for the next leader to see */
  start(scheduled: Scheduled, signal: AbortSignal): void {
    void this.#options.tasks.run('binding cycle', this.#run(scheduled, signal), signal);
  }

  async #run(scheduled: Scheduled, signal: AbortSignal): Promise<void> {
    const { state, clock, metrics } = this.#options;
    const { pod, assumed } = scheduled;
    const from = clock.monotonic();
    try {
      const bound = await this.#bind(scheduled, signal);
      metrics.binding(bound.is === 'bound' ? 'bound' : 'error', (clock.monotonic() - from) / 1_000);
      if (bound.is === 'bound') this.#postBind(scheduled);
      else this.#failed(scheduled, bound, signal);
    } finally {
      state.bindingDone(pod.uid, assumed);
      assumed.reserved?.done();
    }
  }

  async #bind({ pod, node, volumes: decision, assumed }: Scheduled, signal: AbortSignal): Promise<Bound> {
    const { volumes, binder, extenders, statuses } = this.#options;
    const writing = statuses.forget(pod.uid);
    if (decision.reserve.length + decision.provision.length > 0) {
      volumes.reserve(pod, decision);
      const given = AbortSignal.any([signal, assumed.forgotten]);
      try {
        await writing;
        await statuses.nominate(pod, node, given);
        await volumes.preBind(pod, node, decision, given);
      } catch (error) {
        signal.throwIfAborted();
        return assumed.forgotten.aborted ? { is: 'irrelevant', why: 'it is gone' } : refusedBy(error);
      }
    }
    // Volumes may take minutes; what the server is asked at once counts only from here.
    this.#inFlight += 1;
    using _way = statuses.makeWay();
    try {
      await writing;
      try {
        await assumed.reserved?.preBind(signal);
      } catch (error) {
        signal.throwIfAborted();
        return refusedBy(error);
      }
      if (extenders?.asks('bind', pod) !== true) return await binder.bind(pod, node, signal);
      try {
        if (await extenders.bind(pod, node, signal)) return { is: 'bound' };
      } catch (error) {
        signal.throwIfAborted();
        // Whether the pod is bound all the same, only the API server knows.
        return await binder.look(pod, node, { said: messageOf(error), mayCome: true }, signal);
      }
      return await binder.bind(pod, node, signal);
    } finally {
      this.#inFlight -= 1;
    }
  }

  #postBind({ queued, pod, node, assumed }: Scheduled): void {
    const { state, failures, events, metrics } = this.#options;
    state.bound(pod.uid);
    failures.forget(pod.uid);
    metrics.bound(queued.attempts, Math.max(0, state.now() - queued.since) / 1_000);
    const note = `Successfully assigned ${pod.key} to ${node}`;
    events(pod.schedulerName).event(pod.pod, 'Normal', 'Scheduled', note, { resource: pods, action: 'Binding' });
    assumed.reserved?.postBind();
  }

  #failed({ queued, pod, node, volumes, assumed }: Scheduled, bound: Exclude<Bound, { is: 'bound' }>, signal: AbortSignal): void {
    const { state, failures, log } = this.#options;
    log.warn('failed to bind a pod', { pod: pod.key, node, reason: bound.is === 'irrelevant' ? bound.why : bound.message });
    const afterwards = assumed.reserved?.unreserve();
    state.forget(pod);
    afterwards?.();
    const latest = state.latest(pod.key);
    if (bound.is === 'irrelevant' || latest === undefined || latest.uid !== pod.uid || latest.nodeName !== '') {
      state.done(pod.uid);
      return;
    }
    failures.error(queued, latest, bound.message, signal, volumes.reserve.length + volumes.provision.length > 0);
    // A binding that may still arrive finds its node free: nominated for the pod, which tries it first.
    if (bound.mayCome) state.nominate(latest, node);
  }
}

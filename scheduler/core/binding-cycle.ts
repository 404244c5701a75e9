import type { Clock, Millis } from '../../base/clock.ts';
import { describeError, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/object.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { VolumeBinder } from '../volumes/bind.ts';
import type { VolumeDecision } from '../volumes/contract.ts';
import type { BackgroundTasks } from './loop.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { ProfileEvents, SchedulerMetrics } from './reporting.ts';
import type { AssumedPod, SchedulerState } from './state.ts';
import type { StatusWriter } from './status-writer.ts';
import { backoff } from '../../base/waiting.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isNotFound, mayHaveTakenEffect, serverMessageOf } from '../../kube/client/errors.ts';
import type { Pod } from '../types.ts';

/** Result of a binding attempt. */
type Bound =
  /** The pod is on the node. */
  | { is: 'bound' }
  /** The pod is not bound and must be retried. `mayTakeEffect`: the Binding that was sent may still take effect. */
  | { is: 'refused'; message: string; mayTakeEffect: boolean }
  /** Nothing is left to bind: the pod is deleted, on another node, or terminating. */
  | { is: 'irrelevant'; why: string };

interface BinderOptions {
  client: Pick<Client, 'post' | 'get'>;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Failures in a row after which it is logged that a pod cannot be read: fewer are common while an API server restarts. */
const LOGGED_FAILURES = 3;
const READ_RETRY = { base: 200, cap: 5_000 };
const CALL_MS: Millis = 30_000;
const GATEWAY_TIMEOUT = 504;

/**
 * Posts the Binding of a pod, by name and uid: another pod under the same name stays unbound. When the answer is missing or an error, it reads the pod to learn
 * whether it is bound; a Binding is never sent twice without that.
 */
export class Binder {
  readonly #options: BinderOptions;
  /** Pods that could not be read so often: the first and the last of them are logged, since mostly all fail for the same reason. */
  #unreadable = 0;

  constructor(options: BinderOptions) {
    this.#options = options;
  }

  /** @throws the signal's reason: whether the pod is bound is then unknown */
  async bind({ namespace, name, uid }: PodInfo, node: string, signal: AbortSignal): Promise<Bound> {
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    try {
      await this.#options.client.post(pods, { namespace, name }, 'binding', binding, { signal, timeoutMs: CALL_MS });
      return { is: 'bound' };
    } catch (error) {
      signal.throwIfAborted();
      // Also after a 404: a proxy, or a server that has just started, may answer every request with 404.
      return await this.resolve(
        { namespace, name, uid },
        node,
        { message: serverMessageOf(error), mayTakeEffect: isUnanswered(error) },
        signal,
      );
    }
  }

  /** Reads the pod, until the API server answers, to learn whether it is on the node. @param refused - the failure, if the pod is not bound */
  async resolve(
    { namespace, name, uid }: Pick<PodInfo, 'namespace' | 'name' | 'uid'>,
    node: string,
    refused: { readonly message: string; readonly mayTakeEffect: boolean },
    signal: AbortSignal,
  ): Promise<Bound> {
    const { client, clock, random, log } = this.#options;
    const about = { pod: `${namespace}/${name}`, node };
    let failures = 0;
    try {
      for (;;) {
        try {
          const { metadata, spec } = await client.get<Pod>(pods, { namespace, name }, { signal, timeoutMs: CALL_MS });
          if (metadata.uid !== uid) return { is: 'irrelevant', why: 'another pod has its name now' };
          const { nodeName = '' } = spec ?? {};
          if (nodeName === node) return { is: 'bound' };
          if (nodeName !== '') return { is: 'irrelevant', why: `it is on node ${nodeName}` };
          if (metadata.deletionTimestamp !== undefined) return { is: 'irrelevant', why: 'it is being deleted' };
          return { is: 'refused', message: refused.message, mayTakeEffect: refused.mayTakeEffect };
        } catch (error) {
          signal.throwIfAborted();
          if (isNotFound(error)) return { is: 'irrelevant', why: 'it is gone' };
          failures += 1;
          if (failures === LOGGED_FAILURES && ++this.#unreadable === 1)
            log.warn('failed to read whether a pod is bound, retrying', { ...about, error: describeError(error) });
          await clock.sleep(backoff(failures, READ_RETRY, random), signal);
        }
      }
    } finally {
      if (failures >= LOGGED_FAILURES && --this.#unreadable === 0 && !signal.aborted)
        log.info('read again whether a pod is bound', { ...about, failures });
    }
  }
}

/** Whether the Binding may still take effect: the server did not answer, or answered 504. After any other error the server is done with the request. */
function isUnanswered(error: unknown): boolean {
  return mayHaveTakenEffect(error) && !(error instanceof ApiError && error.code !== GATEWAY_TIMEOUT);
}

/** Result for an error in a step before the Binding is sent. */
function refusedBy(error: unknown): Bound {
  return { is: 'refused', message: describeError(error), mayTakeEffect: false };
}

/** A pod that is assumed on its node and not bound yet. */
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
  volumes: Pick<VolumeBinder, 'preBind'>;
  statuses: StatusWriter;
  extenders: Extenders | undefined;
  events: ProfileEvents;
  tasks: BackgroundTasks;
  metrics: SchedulerMetrics;
  clock: Clock;
  log: Log;
}

/** PreBind, Bind and PostBind of each pod, concurrently with the loop that schedules the next one. */
export class BindingCycle {
  readonly #options: BindingCycleOptions;
  #inFlight = 0;

  constructor(options: BindingCycleOptions) {
    this.#options = options;
  }

  /** Pods whose volumes are bound and whose Binding is being sent. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** @param signal - ends the binding cycle; whether the pod is bound is then left to the next leader */
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
    // Binding volumes may take minutes: the limit on concurrent Bindings counts only from here.
    this.#inFlight += 1;
    using _way = statuses.yieldToBinding();
    try {
      await writing;
      try {
        await assumed.reserved?.preBind(signal);
      } catch (error) {
        signal.throwIfAborted();
        return refusedBy(error);
      }
      if (extenders?.calls('bind', pod) !== true) return await binder.bind(pod, node, signal);
      try {
        if (await extenders.bind(pod, node, signal)) return { is: 'bound' };
      } catch (error) {
        signal.throwIfAborted();
        // The extender may have bound the pod despite the error: only the API server can tell.
        return await binder.resolve(pod, node, { message: messageOf(error), mayTakeEffect: true }, signal);
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
    metrics.attempt(pod.schedulerName, 'scheduled');
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
    if (latest === undefined || latest.uid !== pod.uid || latest.nodeName !== '' || (bound.is === 'irrelevant' && latest.terminating)) {
      state.pending.done(pod.uid);
      return;
    }
    // The watch will show why and remove the pod from the queue. If it never does, the answer was not about this pod, which is then retried.
    if (bound.is === 'irrelevant') {
      state.pending.failed(queued, latest);
      return;
    }
    failures.error(queued, latest, bound.message, signal, volumes.reserve.length + volumes.provision.length > 0);
    // The Binding may still take effect: the nomination keeps the capacity of the node for the pod, which tries this node first.
    if (bound.mayTakeEffect) state.pending.nominate(latest, node);
  }
}

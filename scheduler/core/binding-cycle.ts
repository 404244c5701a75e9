import type { Clock, Millis } from '../../base/clock.ts';
import { describeError, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/object.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { QueuedPod } from '../queue/contract.ts';
import type { VolumeBinder, VolumeDecision } from '../volumes/contract.ts';
import type { BackgroundTasks } from './loop.ts';
import type { FailureHandler } from './failure-handler.ts';
import type { ProfileEvents, SchedulerMetrics } from './reporting.ts';
import type { AssumedPod, SchedulerState } from './state.ts';
import type { StatusWriter } from './status-writer.ts';
import { backoff } from '../../base/waiting.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isNotFound, mayHaveTakenEffect, serverWords } from '../../kube/client/errors.ts';
import type { Pod } from '../types.ts';

/** What became of a binding. */
type Bound =
  /** It is on the node. */
  | { is: 'bound' }
  /** It is not, and is to be tried again. `mayCome`: what was asked for may still be on its way. */
  | { is: 'refused'; message: string; mayCome: boolean }
  /** Nothing is left to bind: the pod is gone, or somewhere else, or on its way out. */
  | { is: 'irrelevant'; why: string };

interface BinderOptions {
  client: Pick<Client, 'post' | 'get'>;
  clock: Clock;
  random: Random;
}

const LOOK_AGAIN = { base: 200, cap: 5_000 };
const CALL_MS: Millis = 30_000;
const GATEWAY_TIMEOUT = 504;

/**
 * Posts the Binding of a pod, by name and uid: another pod under the same name stays unbound. When the answer is missing or an error, it reads the pod to learn
 * whether it is bound; a Binding is never sent twice without that.
 */
export class Binder {
  readonly #options: BinderOptions;

  constructor(options: BinderOptions) {
    this.#options = options;
  }

  /** @throws the signal's reason: nobody knows then */
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
      // Also when it is not found: a proxy or a server that has just started says so of everything.
      return await this.look({ namespace, name, uid }, node, { said: serverWords(error), mayCome: isUnanswered(error) }, signal);
    }
  }

  /** Whether the pod is on the node, asked until somebody answers. @param refused - why it should not be */
  async look(
    { namespace, name, uid }: Pick<PodInfo, 'namespace' | 'name' | 'uid'>,
    node: string,
    refused: { readonly said: string; readonly mayCome: boolean },
    signal: AbortSignal,
  ): Promise<Bound> {
    const { client, clock, random } = this.#options;
    for (let failures = 0; ; failures++) {
      try {
        const { metadata, spec } = await client.get<Pod>(pods, { namespace, name }, { signal, timeoutMs: CALL_MS });
        if (metadata.uid !== uid) return { is: 'irrelevant', why: 'another pod has its name now' };
        const { nodeName = '' } = spec ?? {};
        if (nodeName === node) return { is: 'bound' };
        if (nodeName !== '') return { is: 'irrelevant', why: `it is on node ${nodeName}` };
        if (metadata.deletionTimestamp !== undefined) return { is: 'irrelevant', why: 'it is being deleted' };
        return { is: 'refused', message: refused.said, mayCome: refused.mayCome };
      } catch (error) {
        signal.throwIfAborted();
        if (isNotFound(error)) return { is: 'irrelevant', why: 'it is gone' };
        await clock.sleep(backoff(failures + 1, LOOK_AGAIN, random), signal);
      }
    }
  }
}

/** The server may be at it still: it has not answered, or gave up waiting for itself. What it refused, or failed at, is over. */
function isUnanswered(error: unknown): boolean {
  return mayHaveTakenEffect(error) && !(error instanceof ApiError && error.code !== GATEWAY_TIMEOUT);
}

/** An error of anything else that was to be done before binding. */
function refusedBy(error: unknown): Bound {
  return { is: 'refused', message: describeError(error), mayCome: false };
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
      state.done(pod.uid);
      return;
    }
    // The cache tells what became of it, and takes it out of the queue: if it never does, the answer was not about this pod.
    if (bound.is === 'irrelevant') {
      state.failed(queued, latest);
      return;
    }
    failures.error(queued, latest, bound.message, signal, volumes.reserve.length + volumes.provision.length > 0);
    // A binding that may still arrive finds its node free: nominated for the pod, which tries it first.
    if (bound.mayCome) state.nominate(latest, node);
  }
}

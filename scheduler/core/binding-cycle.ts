import type { Clock, Millis } from '../../base/clock.ts';
import { describeError, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/controller/event-recorder.ts';
import type { Extenders } from '../extenders/chain.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { executePreemption } from '../preempt/execute.ts';
import type { Reservation } from '../reservation/contract.ts';
import { placedEvent } from '../reservation/events.ts';
import { resultOf } from '../reservation/reservation-meters.ts';
import type { VolumeBinder } from '../volumes/contract.ts';
import { fail } from './schedule-one.ts';
import { refusedBy, type Binder, type Bound } from './binder.ts';
import type { Mirrors } from '../placeholder/placeholders.ts';
import type { Outcome, Placing, Refusal } from './outcome.ts';
import type { Parts } from './state.ts';
import { recheckRoom } from '../reservation/capacity.ts';
import type { Router } from './event-handlers.ts';
import type { SchedulerMeters } from './metrics.ts';
import type { StatusWriter } from './status-writer.ts';
import { ToldRefusals } from './failure-handler.ts';
import type { RoomTeller } from '../reservation/wakes.ts';

export interface WorkerOptions {
  parts: Parts;
  router: Router;
  teller: RoomTeller;
  client: Pick<Client, 'get' | 'patch' | 'delete'>;
  binder: Binder;
  volumes: VolumeBinder;
  statuses: StatusWriter;
  extenders: Extenders | undefined;
  /** What shows kept room to other schedulers makes way for pods. Undefined: nothing does. */
  mirrors: Pick<Mirrors, 'clear' | 'settled'> | undefined;
  events: EventRecorder;
  meters: SchedulerMeters;
  clock: Clock;
  log: Log;
  /** Something changed that the loop may want to look at. */
  poke(): void;
}

/** Room could not be made: the pod tries again so much later. */
const PREEMPT_AGAIN_MS: Millis = 1_000;

/** Does what was decided, beside the loop that decides: binds pods, makes room, and says why others wait. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #told = new ToldRefusals();
  readonly #placing = new Map<string, { readonly over: AbortController; released: Reservation | undefined }>();
  #binding = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Pods that are being bound now. */
  get binding(): number {
    return this.#binding;
  }

  /** Begins what an attempt led to. @param signal - ends it; what is under way then is nobody's any more. @returns as {@link refuse} */
  begin(outcome: Outcome, signal: AbortSignal): Promise<void> | undefined {
    switch (outcome.did) {
      case 'placed':
        void this.#run(this.#place(outcome, signal), signal);
        return undefined;
      case 'refused':
        return this.refuse(outcome, signal);
    }
  }

  /** A pod that was to be bound is gone, or going: room that was kept for it is kept for the next of its name, before anybody is woken for it. */
  abandon(uid: string): void {
    const own = this.#placing.get(uid);
    if (own === undefined) return;
    const { released } = own;
    own.released = undefined;
    own.over.abort();
    if (released !== undefined) this.#options.parts.reservations.restore(released, this.#options.parts.now());
  }

  /** A pod that is to be deleted before it had a place. */
  skipDeleting(pod: PodInfo): void {
    this.#options.events.event(pod.pod, 'Warning', 'FailedScheduling', `skip schedule deleting pod: ${pod.key}`, about);
  }

  /** @returns when all victims have been told to go; undefined without any */
  refuse({ pod, reason, message, nominate, preempt }: Refusal, signal: AbortSignal): Promise<void> | undefined {
    const { statuses, parts } = this.#options;
    this.#tellRefused(pod, message);
    statuses.write(parts.latest(pod.key) ?? pod, { reason, message, nominate }, signal);
    return preempt && this.#run(this.#preempt(pod, preempt, signal), signal);
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await this.#options.statuses.idle();
  }

  #run(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const tracked = work
      .catch((error: unknown) => {
        if (!signal.aborted) log.error('something went wrong beside the loop', { error: describeError(error) });
      })
      .finally(() => {
        this.#running.delete(tracked);
        this.#options.poke();
      });
    this.#running.add(tracked);
    return tracked;
  }

  async #place(placing: Placing, signal: AbortSignal): Promise<void> {
    const { clock, meters, mirrors } = this.#options;
    const from = clock.monotonic();
    const { uid } = placing.pod;
    const own = { over: new AbortController(), released: placing.released };
    this.#placing.set(uid, own);
    try {
      const bound = await this.#bind(placing, own.over.signal, signal);
      meters.binding(bound.is === 'bound' ? 'bound' : 'error', (clock.monotonic() - from) / 1_000);
      if (bound.is === 'bound') this.#bound(placing);
      else this.#unbound({ ...placing, released: own.released }, bound, signal);
    } finally {
      if (this.#placing.get(uid) === own) this.#placing.delete(uid);
      if (placing.released !== undefined) mirrors?.settled(placing.released);
    }
  }

  /** @param own - aborts when the pod is gone: nobody waits for its volumes any more */
  async #bind({ pod, node, volumes: decision, released }: Placing, own: AbortSignal, signal: AbortSignal): Promise<Bound> {
    const { volumes, binder, extenders, statuses, mirrors } = this.#options;
    const writing = statuses.forget(pod.uid);
    if (decision.reserve.length + decision.provision.length > 0) {
      volumes.reserve(pod, decision);
      try {
        await volumes.preBind(pod, node, decision, AbortSignal.any([signal, own]));
      } catch (error) {
        signal.throwIfAborted();
        return own.aborted ? { is: 'moot', why: 'it is gone' } : refusedBy(error);
      }
    }
    // Volumes may take minutes; what the server is asked at once counts only from here.
    this.#binding += 1;
    using _way = statuses.makeWay();
    try {
      await writing;
      if (mirrors !== undefined) {
        try {
          await mirrors.clear(node, released, signal);
        } catch (error) {
          signal.throwIfAborted();
          return refusedBy(error);
        }
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
      this.#binding -= 1;
    }
  }

  #bound({ queued, pod, node, released }: Placing): void {
    const { parts, events, meters, teller } = this.#options;
    const now = parts.now();
    parts.queue.done(pod.uid);
    parts.cluster.bound(pod.uid, now);
    this.#told.forget(pod.uid);
    meters.bound(queued.attempts, Math.max(0, now - queued.since) / 1_000);
    events.event(pod.pod, 'Normal', 'Scheduled', `Successfully assigned ${pod.key} to ${node}`, { ...about, action: 'Binding' });
    if (released === undefined) return;
    parts.reservations.bound(released);
    const { type, reason, message } = placedEvent(released, node);
    events.event(pod.pod, type, reason, message, about);
    teller.ended(resultOf(released, node), released);
  }

  #unbound(placing: Placing, bound: Exclude<Bound, { is: 'bound' }>, signal: AbortSignal): void {
    const { parts, router, teller, log } = this.#options;
    const { queued, pod, node, released } = placing;
    log.warn('a pod was not bound', { pod: pod.key, node, why: bound.is === 'moot' ? bound.why : bound.message });
    // Before others are woken: for them the room is still kept.
    const restored = released && parts.reservations.restore(released, parts.now());
    router.unassume(pod);
    if (restored !== undefined && parts.reservations.on(restored.node).length > 0) recheckRoom(parts, teller, restored.node);
    const latest = parts.latest(pod.key);
    if (bound.is === 'moot' || latest === undefined || latest.uid !== pod.uid || latest.nodeName !== '') {
      parts.queue.done(pod.uid);
      return;
    }
    const refusal = fail(parts, queued, latest, bound.message);
    // A binding that is on its way still finds its room: promised to the pod, which tries this node first, until it has a place or is refused.
    if (bound.mayCome) parts.nominator.add(latest, node);
    void this.refuse(refusal, signal);
  }

  async #preempt(pod: PodInfo, { chosen, unnominate }: NonNullable<Refusal['preempt']>, signal: AbortSignal): Promise<void> {
    const { parts, client, clock, events, meters, log } = this.#options;
    const { node, victims } = chosen;
    meters.preempted(victims.length);
    const result = await executePreemption(
      {
        client,
        clock,
        tell: (victim, { type, reason, action, note }) => events.event(victim, type, reason, note, { ...about, action }),
      },
      { preemptor: pod, node, victims, unnominate },
      signal,
    );
    if (signal.aborted) return;
    for (const error of result.failures) log.warn('a pod could not be preempted', { for: pod.key, node, error: describeError(error) });
    for (const { pod: other, error } of result.stillNominated)
      log.warn('a pod is still said to go to a node that another one gets', { pod: other.key, node, error: describeError(error) });
    if (result.failures.length > 0) {
      // They may live on: what becomes of them later is another matter. Whatever keeps them is not over at once.
      for (const { uid } of victims) parts.victims.delete(uid);
      await clock.sleep(PREEMPT_AGAIN_MS, signal);
    }
    // Those that lost their promise look for another place, and the room that they were promised is free for others.
    for (const other of unnominate) parts.queue.activate(other.uid);
    parts.queue.release(pod.uid);
    if (result.failures.length > 0) parts.queue.activate(pod.uid);
  }

  #tellRefused(pod: PodInfo, message: string): void {
    const { clock, events } = this.#options;
    if (!this.#told.isNews(pod.uid, message, clock.monotonic())) return;
    events.event(pod.pod, 'Warning', 'FailedScheduling', message, { ...about, action: 'Scheduling' });
  }
}

const about = { resource: pods };

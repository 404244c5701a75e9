import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Trigger } from '../../base/waiting.ts';
import type { Placed } from '../cache/cluster.ts';
import type { SettledCaches } from '../informers.ts';
import type { Binder, BindingCycle } from './binding-cycle.ts';
import type { SchedulerHooks } from './hooks.ts';
import type { ScheduleOne } from './schedule-one.ts';
import type { SchedulerState } from './state.ts';
import type { StatusWriter } from './status-writer.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** Work that runs concurrently with the loop: binding cycles and preemption. */
export class BackgroundTasks {
  readonly #log: Log;
  readonly #notify: () => void;
  readonly #running = new Set<Promise<void>>();

  /** @param notify - called when a task has ended */
  constructor(log: Log, notify: () => void) {
    this.#log = log;
    this.#notify = notify;
  }

  /** @param what - for the log @returns resolves when the task has ended; never rejects */
  run(what: string, work: Promise<void>, signal: AbortSignal): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        if (!signal.aborted) this.#log.error(`unexpected error in ${what}`, { error: describeError(error) });
      })
      .finally(() => {
        this.#running.delete(tracked);
        this.#notify();
      });
    this.#running.add(tracked);
    return tracked;
  }

  /** Resolves when no task is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

interface LoopOptions {
  state: SchedulerState;
  hooks: Pick<SchedulerHooks, 'tick'>;
  scheduleOne: Pick<ScheduleOne, 'next'>;
  binding: Pick<BindingCycle, 'inFlight'>;
  unconfirmed: Pick<UnconfirmedPods, 'tick'>;
  tasks: Pick<BackgroundTasks, 'idle'>;
  statuses: Pick<StatusWriter, 'idle'>;
  /** Extenders are called over the network, so a scheduling attempt may wait. */
  hasExtenders: boolean;
  caches: SettledCaches;
  /** There may be something to do. */
  trigger: Pick<Trigger, 'wait' | 'waitOr'>;
  clock: Clock;
}

/** How long pods are scheduled before the process handles other work: informer events, responses of the server. */
const SLICE_MS: Millis = 4;
/** Longest sleep while any pod waits. */
const MAX_SLEEP: Millis = 1_000;

/** Schedules pod after pod; sleeps while there is nothing to schedule. */
export class Loop {
  readonly #options: LoopOptions;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { tasks, statuses, caches, trigger, clock, state } = this.#options;
    try {
      while (!signal.aborted) {
        if (!caches.settled) {
          // Rejects only when the signal aborts, and then the loop ends.
          await caches.whenSettled(signal).catch(() => {});
          continue;
        }
        this.#tick(signal);
        if (await this.#slice(signal)) await breathe();
        else {
          if (!caches.settled) continue;
          // The slice may have added deadlines, and the backoff of other pods may have ended during it.
          const next = this.#tick(signal);
          if (this.#maySchedule()) continue;
          if (next === undefined) await trigger.wait(signal);
          else await trigger.waitOr(Math.min(MAX_SLEEP, Math.max(0, next - state.now())), clock, signal);
        }
      }
    } finally {
      await tasks.idle();
      await statuses.idle();
    }
  }

  /** Handles timeouts and ended backoffs. @returns when to call again */
  #tick(signal: AbortSignal): Millis | undefined {
    const { state, hooks, unconfirmed } = this.#options;
    const times = [unconfirmed.tick(signal), state.pending.tick(), hooks.tick(signal)].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #maySchedule(): boolean {
    return this.#options.state.queue.sizes.active > 0 && this.#mayBind();
  }

  /** Decisions that are not yet written become outdated: scheduling does not run further ahead of the API server than this limit. */
  #mayBind(): boolean {
    const { state, binding } = this.#options;
    return binding.inFlight < state.config.api.maxInflightBinds;
  }

  /** @returns whether another slice should follow at once */
  async #slice(signal: AbortSignal): Promise<boolean> {
    const { state, scheduleOne, caches, hasExtenders, clock } = this.#options;
    const until = clock.monotonic() + SLICE_MS;
    // The caches can change within a slice only if the slice awaits.
    const waits = hasExtenders || !state.config.preemption.async;
    while (!signal.aborted) {
      if (waits && !caches.settled) return true;
      if (!this.#mayBind() || !(await scheduleOne.next(signal))) return false;
      if (clock.monotonic() >= until) return true;
    }
    return false;
  }
}

/** A bound pod that the watch has not shown on its node for this long is read from the API server. */
const READ_AFTER_MS: Millis = 60_000;
const CHECK_EVERY_MS: Millis = 10_000;

/** Reads the pods that the API server has bound but the watch has not shown on their nodes, so that none counts there forever by mistake. */
export class UnconfirmedPods {
  readonly #state: SchedulerState;
  readonly #binder: Binder;
  readonly #reading = new Set<string>();
  #next: Millis = 0;

  constructor(state: SchedulerState, binder: Binder) {
    this.#state = state;
    this.#binder = binder;
  }

  /** @param signal - for requests @returns when to call again; undefined: the watch has shown all bound pods */
  tick(signal: AbortSignal): Millis | undefined {
    const { cluster, now } = this.#state;
    const at = now();
    // Pods bound since the last check are found by the next one.
    if (at < this.#next) return this.#next;
    this.#next = at + Math.min(CHECK_EVERY_MS, this.#after);
    const bound = cluster.unconfirmed(at);
    for (const placed of bound)
      if ((placed.boundAt ?? at) <= at - this.#after && !this.#reading.has(placed.info.uid)) this.#read(placed, signal);
    return bound.length > 0 ? this.#next : undefined;
  }

  get #after(): Millis {
    const { assumeTtlMs } = this.#state.config;
    return assumeTtlMs === 0 ? READ_AFTER_MS : assumeTtlMs;
  }

  #read({ info, state: { name: node } }: Placed, signal: AbortSignal): void {
    const state = this.#state;
    this.#reading.add(info.uid);
    this.#binder
      .resolve(info, node, { message: '', mayTakeEffect: false }, signal)
      .then(
        ({ is }) => {
          if (is === 'bound' || !state.forget(info)) return;
          const pod = state.latest(info.key);
          // Added as a new pod: the queue dropped its attempts and backoff when it was bound.
          if (pod !== undefined && pod.uid === info.uid && pod.nodeName === '' && !pod.terminating) state.pending.readd(pod);
        },
        () => {},
      )
      .finally(() => this.#reading.delete(info.uid));
  }
}

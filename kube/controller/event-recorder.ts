import { backoff, unlessAborted } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Fields, Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { coreEvents, type KubeObject, type Resource } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import { ApiError, isAlreadyExists, isNotFound, retryAfterOf, TransportError } from '../client/errors.ts';
import { type AggregationLimits, EventAggregation, EventLanes } from './event-limits.ts';
import { eventObject, eventPatch, type EventType, referenceTo, type Series } from './event.ts';

export interface EventRecorder {
  /**
   * Records an event about `object`, for people. Returns at once and never throws. Nothing may depend on events: they may arrive late, combined or not at
   * all.
   * @param about - the object's kind, where the object does not carry it; a part of the object; the action
   */
  event(object: Readonly<KubeObject>, type: EventType, reason: string, message: string, about?: About): void;
}

export interface About {
  resource?: Resource;
  fieldPath?: string;
  /** What was done or tried, in one word. @default the reason */
  action?: string;
}

/** full: too many events wait; limited: too many about one object; refused: the server rejected it; failed: all retries failed. */
export type DropReason = 'full' | 'limited' | 'refused' | 'failed' | 'closed' | 'invalid';

export interface EventMetrics {
  sent(how: 'created' | 'patched'): void;
  dropped(why: DropReason): void;
  retried(): void;
  waiting(count: number): void;
}

const noEventMetrics: EventMetrics = { sent() {}, dropped() {}, retried() {}, waiting() {} };

export interface EventSenderOptions {
  client: Pick<Client, 'create' | 'patch'>;
  clock: Clock;
  random: Random;
  log: Log;
  metrics?: EventMetrics;
  /** Events of each type that may wait. @default 1000 */
  capacity?: number;
  /** Concurrent calls; calls about one event are sent one after the other. @default 1 */
  atOnce?: number;
  aggregation?: Partial<AggregationLimits>;
}

/** All tries together last about as long as an API server takes to restart. */
const TRIES = 8;
const RETRY = { base: 1_000, cap: 30_000 };
const CALL_MS: Millis = 10_000;
const REPORT_DROPS_EVERY_MS: Millis = 60_000;
/** A longer Retry-After is cut to this. */
const MAX_STAY: Millis = 60_000;
const CLOSE_MS: Millis = 2_000;

/**
 * Sends the events of a process in the background, `atOnce` calls at a time. The queue holds changed events, not each change: a repeated event is sent once
 * with a higher count, so an outage costs memory for different events only.
 *
 * When the queue is full, the newest event is dropped: the first events of a storm show its cause, the later ones mostly its effects. When a dropped event
 * happens again, its count includes the drop. Normal events and warnings have a lane each, so that neither displaces or delays the other
 * ({@link EventLanes}).
 */
export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #metrics: EventMetrics;
  readonly #aggregation: EventAggregation;
  readonly #stop = new AbortController();
  readonly #waiting: EventLanes;
  /** Events being sent. A change of one of them is sent after its current call. */
  readonly #inFlight = new Set<Series>();
  /** Number of workers: each sends one event at a time, until none waits. */
  #workers = 0;
  /** Resolves when the last worker ends. */
  #sending: PromiseWithResolvers<void> | undefined;
  #closed = false;
  #nanos: number;
  /** Consecutive failures over all events: these are the server's. */
  #failures = 0;
  #dropsReportedAt: Millis | undefined;
  #unreportedDrops = 0;

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? noEventMetrics;
    this.#aggregation = new EventAggregation(options.aggregation);
    this.#waiting = new EventLanes(options.capacity ?? 1_000);
    this.#nanos = Math.floor(options.random() * 1_000_000);
  }

  /**
   * @param component - the reporting component, such as `daemonset-controller`
   * @param instance - the process of that component, as `reportingInstance`. @default ''
   */
  recorder(component: string, instance = ''): EventRecorder {
    return {
      event: (object, type, reason, message, about = {}) => this.#add({ component, instance }, object, { type, reason, message }, about),
    };
  }

  /** Events that wait to be sent, without those being sent. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when nothing waits any more (true), or as soon as the signal aborts (false). Never rejects. */
  async flush(signal: AbortSignal): Promise<boolean> {
    if (this.#sending === undefined) return true;
    return unlessAborted(this.#sending.promise, signal).then(
      () => true,
      () => false,
    );
  }

  /** Accepts no more events, sends the waiting ones for up to two seconds (less when the signal aborts), and drops the rest. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closed = true;
    const over = new AbortController();
    const waiting = this.flush(AbortSignal.any([signal, over.signal]));
    const timer = this.#options.clock.sleep(CLOSE_MS, over.signal).then(
      () => over.abort(),
      () => {},
    );
    await waiting;
    over.abort();
    this.#stop.abort();
    await Promise.all([timer, this.#sending?.promise]);
    for (const series of this.#waiting.drain()) this.#drop(series, 'closed');
    this.#metrics.waiting(0);
    this.#reportDrops('closed');
  }

  #add(
    who: { component: string; instance: string },
    object: Readonly<KubeObject>,
    what: { type: EventType; reason: string; message: string },
    { resource, fieldPath, action }: About,
  ): void {
    try {
      const regarding = referenceTo(object, resource, fieldPath);
      const { clock } = this.#options;
      this.#nanos = (this.#nanos + 1) % 1_000_000;
      const moment = { now: clock.now(), monotonic: clock.monotonic(), nanos: this.#nanos };
      const { series, send } = this.#aggregation.add({ ...who, ...what, action, regarding }, moment);
      if (this.#closed) this.#drop(series, 'closed');
      else if (!send) this.#drop(series, 'limited');
      else if (this.#waiting.has(series)) return;
      else if (this.#waiting.isFullFor(series)) this.#drop(series, 'full');
      else this.#enqueue(series);
    } catch (error) {
      this.#drop({ reason: what.reason }, 'invalid', error);
    }
  }

  #enqueue(series: Series): void {
    this.#waiting.add(series);
    this.#metrics.waiting(this.#waiting.size);
    const { atOnce = 1 } = this.#options;
    if (this.#workers === atOnce) return;
    this.#workers += 1;
    this.#sending ??= Promise.withResolvers();
    // Not in the caller's turn: repetitions within one turn are sent as one event.
    void Promise.resolve().then(() => this.#work());
  }

  #ended(): void {
    this.#workers -= 1;
    if (this.#workers > 0) return;
    this.#sending?.resolve();
    this.#sending = undefined;
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const series = this.#waiting.take((waiting) => !this.#inFlight.has(waiting));
      if (series === undefined) break;
      this.#metrics.waiting(this.#waiting.size);
      this.#inFlight.add(series);
      const again = await this.#try(series).finally(() => this.#inFlight.delete(series));
      // At the end of the queue, so that an event that always fails does not block the others.
      if (again) this.#waiting.add(series);
    }
    // In the turn in which the queue was found empty: an event that is added later needs a new worker.
    this.#ended();
  }

  /** @returns whether the event must be sent again */
  async #try(series: Series): Promise<boolean> {
    const { signal } = this.#stop;
    try {
      const changed = await this.#call(series, { signal, timeoutMs: CALL_MS });
      series.failures = 0;
      series.tried = 0;
      this.#failures = 0;
      return changed;
    } catch (error) {
      if (signal.aborted) return true;
      if (!isRetriable(error)) {
        this.#drop(series, 'refused', error);
        return false;
      }
      return await this.#failed(series, error);
    }
  }

  /** Backs off before the next call. @returns whether this event is retried */
  async #failed(series: Series, error: unknown): Promise<boolean> {
    const { clock, random } = this.#options;
    series.failures += 1;
    this.#failures += 1;
    const again = series.failures < TRIES;
    if (again) this.#metrics.retried();
    else {
      series.failures = 0;
      this.#drop(series, 'failed', error);
    }
    const asked = Math.min(retryAfterOf(error) ?? 0, MAX_STAY);
    await clock.sleep(Math.max(backoff(this.#failures, RETRY, random), asked), this.#stop.signal).catch(() => {});
    return again;
  }

  /** @returns whether the server has an older count, so that the event must be sent again */
  async #call(series: Series, options: { signal: AbortSignal; timeoutMs: Millis }): Promise<boolean> {
    const { client } = this.#options;
    const { namespace, name, count } = series;
    if (series.sent > 0) {
      try {
        await client.patch(coreEvents, { namespace, name }, eventPatch(series), { type: 'strategic', ...options });
        series.sent = count;
        this.#metrics.sent('patched');
        return false;
      } catch (error) {
        // The server deletes events after an hour.
        if (!isNotFound(error)) throw error;
        series.sent = 0;
      }
    }
    try {
      await client.create(coreEvents, eventObject(series), { namespace, ...options });
      series.sent = count;
      this.#metrics.sent('created');
      return false;
    } catch (error) {
      if (isAlreadyExists(error) && series.tried > 0) {
        // An earlier create succeeded, and its response was lost.
        series.sent = series.tried;
        return series.sent < count;
      }
      if (isRetriable(error)) series.tried = count;
      throw error;
    }
  }

  /** Counts a dropped event, and logs the number at most once a minute. */
  #drop(series: Pick<Series, 'reason'>, why: DropReason, error?: unknown): void {
    this.#metrics.dropped(why);
    if (why === 'limited') return; // expected
    this.#unreportedDrops += 1;
    const now = this.#options.clock.monotonic();
    if (why === 'closed' || (this.#dropsReportedAt !== undefined && now - this.#dropsReportedAt < REPORT_DROPS_EVERY_MS)) return;
    this.#dropsReportedAt = now;
    this.#reportDrops(why, { last: series.reason, ...(error === undefined ? {} : { error }) });
  }

  #reportDrops(why: DropReason, facts: Fields = {}): void {
    if (this.#unreportedDrops > 0) this.#options.log.warn('events are dropped', { why, dropped: this.#unreportedDrops, ...facts });
    this.#unreportedDrops = 0;
  }
}

/** As client-go: an event is sent again when the server did not answer; also when it is busy or broken (429, 5xx). Any other rejection is final. */
function isRetriable(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500 || error.code === 429;
  return error instanceof TransportError && error.problem !== 'closed';
}

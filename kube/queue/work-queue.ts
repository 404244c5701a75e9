import type { Clock, Millis } from '../../base/clock.ts';
import type { Key } from '../cache/contract.ts';
import { DelayQueue, ReadyKeys } from './waiting-keys.ts';
import { type RateLimits, RetryLimiter } from './rate-limit.ts';

/** Receives the counts of queues. @see kube/metrics/controller-metrics.ts for the Prometheus metrics */
export interface QueueMetrics {
  /**
   * Registers a queue.
   * @param name - label of all its metrics: `daemonset`
   * @param gauges - read at each scrape
   */
  open(name: string, gauges: QueueGauges): QueueCounts;
}

/** Values of a queue that can be read at any time. */
export interface QueueGauges {
  /** Dirty keys: the ready keys, and the keys that were added again while being processed. */
  depth(): number;
  /** How long each key has been processing so far. */
  running(): Iterable<Millis>;
}

/** Called by a queue as things happen. None of these may throw. */
export interface QueueCounts {
  /** A key became dirty. */
  added(): void;
  /** A worker took a key that was added `waited` ago. */
  taken(waited: Millis): void;
  /** A worker is done with a key after `worked`. */
  finished(worked: Millis): void;
  /** A key was requeued with a delay: a failure or a delayed add. */
  retried(): void;
}

const noQueueMetrics: QueueMetrics = {
  open: () => ({ added() {}, taken() {}, finished() {}, retried() {} }),
};

export interface WorkQueueOptions {
  clock: Clock;
  /** @default not counted */
  metrics?: QueueMetrics;
  limits?: RateLimits;
}

/** The methods for code that only enqueues keys: event handlers, timers. */
export type Enqueue = Pick<WorkQueue, 'add' | 'addAfter' | 'addRateLimited'>;

/**
 * The keys that a controller has to reconcile, in FIFO order. A key is queued at most once and processed by at most one worker; a key that is added while it
 * is being processed is queued again afterwards, so that no change is missed.
 * @see docs/queues.md
 */
export class WorkQueue {
  readonly name: string;
  readonly #clock: Clock;
  readonly #keys = new ReadyKeys();
  readonly #delays: DelayQueue<Key>;
  readonly #limiter: RetryLimiter;
  readonly #counts: QueueCounts;
  /** Workers that wait for a key, the one that has waited longest first; none while a key is ready. */
  readonly #waiters = new Set<(key: Key | undefined) => void>();
  #shutDown = false;

  /** @param name - for logs and metrics, such as `daemonset` */
  constructor(name: string, { clock, metrics = noQueueMetrics, limits = {} }: WorkQueueOptions) {
    this.name = name;
    this.#clock = clock;
    this.#delays = new DelayQueue(clock, (key) => this.add(key));
    this.#limiter = new RetryLimiter(clock, limits);
    this.#counts = metrics.open(name, { depth: () => this.#keys.dirty, running: () => this.#keys.running(clock.monotonic()) });
  }

  /** Ready keys, without the keys being processed and the delayed keys. */
  get length(): number {
    return this.#keys.ready;
  }

  /** Keys being processed. */
  get processing(): number {
    return this.#keys.processing;
  }

  /** Keys that are added later. */
  get delayed(): number {
    return this.#delays.size;
  }

  /** Keys with failures. */
  get failing(): number {
    return this.#limiter.size;
  }

  /** Enqueues the key. Ignored once shut down, like all adds. */
  add(key: Key): void {
    if (this.#shutDown) return;
    const now = this.#clock.monotonic();
    if (this.#keys.add(key, now)) this.#counts.added();
    this.#handOut();
  }

  /**
   * Adds the key after `ms`, at once for 0 and less. The earliest requested time wins; an `add` before that time does not cancel it.
   * @throws {RangeError} for NaN and Infinity
   */
  addAfter(key: Key, ms: Millis): void {
    if (this.#shutDown) return;
    if (ms <= 0) this.add(key);
    else this.#delays.set(key, ms);
    this.#counts.retried();
  }

  /** Counts a failure of the key and adds it after its backoff. @see RetryLimiter */
  addRateLimited(key: Key): void {
    if (!this.#shutDown) this.addAfter(key, this.#limiter.next(key));
  }

  /** Resets the failures of the key: its next failure counts as the first. Does not cancel an add. */
  forget(key: Key): void {
    this.#limiter.forget(key);
  }

  /** Failures since the key was last forgotten. */
  retries(key: Key): number {
    return this.#limiter.retries(key);
  }

  /**
   * The next key; the caller processes it until {@link done}.
   * @returns undefined once the queue is shut down and empty, or when the signal aborts first: an aborted caller gets no key
   */
  get(signal: AbortSignal): Promise<Key | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const key = this.#take();
    if (key !== undefined || this.#shutDown) return Promise.resolve(key);
    return new Promise((resolve) => {
      const settle = (key: Key | undefined): void => {
        signal.removeEventListener('abort', stop);
        this.#waiters.delete(settle);
        resolve(key);
      };
      const stop = (): void => settle(undefined);
      signal.addEventListener('abort', stop, { once: true });
      this.#waiters.add(settle);
    });
  }

  /**
   * The caller of {@link get} has finished with the key. If the key was added during that time, it is queued again.
   * @throws {RangeError} for a key that is not being processed: two workers could otherwise process it at once
   */
  done(key: Key): void {
    const worked = this.#keys.done(key, this.#clock.monotonic());
    if (worked === undefined) throw new RangeError(`queue ${this.name}: done with ${key}, which nobody is processing`);
    this.#counts.finished(worked);
    this.#handOut();
  }

  /** Accepts no more keys and drops the delayed keys. Ready keys are still handed out; after them every `get` returns undefined. */
  shutDown(): void {
    this.#shutDown = true;
    this.#delays.close();
    for (const settle of this.#waiters) settle(undefined);
  }

  #take(): Key | undefined {
    const taken = this.#keys.get(this.#clock.monotonic());
    if (taken === undefined) return undefined;
    this.#counts.taken(taken.waited);
    return taken.key;
  }

  /** Gives the first ready key to the worker that has waited longest. */
  #handOut(): void {
    const [settle] = this.#waiters;
    if (settle === undefined) return;
    const key = this.#take();
    if (key !== undefined) settle(key);
  }
}

import type { Clock, Millis } from '../../base/clock.ts';
import type { Key } from '../cache/contract.ts';
import { DelayQueue, ReadyKeys } from './waiting-keys.ts';
import { type RateLimits, RetryLimiter } from './rate-limit.ts';

/** Who counts what queues do. @see kube/metrics/controller-metrics.ts for the one that Prometheus reads */
export interface QueueMetrics {
  /**
   * A queue begins.
   * @param name - label of everything that is counted: `daemonset`
   * @param gauges - read whenever someone looks
   */
  open(name: string, gauges: QueueGauges): QueueCounts;
}

/** What a queue can be asked at any time. */
export interface QueueGauges {
  /** Visits owed: keys in the line, and keys with a worker that were added again. */
  depth(): number;
  /** How long each key that is with a worker has been there. */
  running(): Iterable<Millis>;
}

/** What a queue tells as it happens. Nothing here may throw. */
export interface QueueCounts {
  /** One visit more is owed. */
  added(): void;
  /** A worker took a key that was added `waited` ago. */
  taken(waited: Millis): void;
  /** A worker is done with a key after `worked`. */
  finished(worked: Millis): void;
  /** A key was asked to come later: a failure or a delayed add. */
  retried(): void;
}

const noQueueMetrics: QueueMetrics = {
  open: () => ({ added() {}, taken() {}, finished() {}, retried() {} }),
};

export interface WorkQueueOptions {
  clock: Clock;
  /** @default nobody counts */
  metrics?: QueueMetrics;
  limits?: RateLimits;
}

/** What those may do who only find keys: event handlers, timers. */
export type Enqueue = Pick<WorkQueue, 'add' | 'addAfter' | 'addRateLimited'>;

/**
 * The keys that a controller has to look at. A key waits at most once and is with at most one worker; added while it is there, it comes again
 * afterwards, so that no change is missed. First come, first served.
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
  readonly #drainers = new Set<() => void>();
  #shutDown = false;

  /** @param name - for logs and metrics, such as `daemonset` */
  constructor(name: string, { clock, metrics = noQueueMetrics, limits = {} }: WorkQueueOptions) {
    this.name = name;
    this.#clock = clock;
    this.#delays = new DelayQueue(clock, (key) => this.add(key));
    this.#limiter = new RetryLimiter(clock, limits);
    this.#counts = metrics.open(name, { depth: () => this.#keys.dirty, running: () => this.#keys.running(clock.monotonic()) });
  }

  /** Keys in the line: neither those with a worker nor those that come later. */
  get length(): number {
    return this.#keys.ready;
  }

  /** Keys with a worker. */
  get processing(): number {
    return this.#keys.processing;
  }

  /** Keys that come later. */
  get delayed(): number {
    return this.#delays.size;
  }

  /** Keys whose failures are remembered. */
  get failing(): number {
    return this.#limiter.size;
  }

  /** Asks for a visit. Ignored once shut down, as all adds are. */
  add(key: Key): void {
    if (this.#shutDown) return;
    const now = this.#clock.monotonic();
    if (this.#keys.add(key, now)) this.#counts.added();
    this.#handOut();
  }

  /**
   * Adds the key in `ms`, at once for 0 and less. The earliest time asked for wins, and an `add` meanwhile leaves it as it is.
   * @throws {RangeError} for NaN and Infinity
   */
  addAfter(key: Key, ms: Millis): void {
    if (this.#shutDown) return;
    if (ms <= 0) this.add(key);
    else this.#delays.set(key, ms);
    this.#counts.retried();
  }

  /** Adds the key after its wait for one failure more. @see RetryLimiter */
  addRateLimited(key: Key): void {
    if (!this.#shutDown) this.addAfter(key, this.#limiter.next(key));
  }

  /** The key did not fail this time: its next failure counts as the first. It does not take back an add. */
  forget(key: Key): void {
    this.#limiter.forget(key);
  }

  /** Failures since the key was last forgotten. */
  retries(key: Key): number {
    return this.#limiter.retries(key);
  }

  /**
   * The next key; it is with the caller until {@link done}.
   * @returns undefined when there is none and never will be (shut down), or when the signal aborts first: an aborted caller is given no key
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
   * The caller of {@link get} has finished with the key. If it was added meanwhile, it is in the line again.
   * @throws {RangeError} for a key that nobody got: two workers would run it at once next
   */
  done(key: Key): void {
    const worked = this.#keys.done(key, this.#clock.monotonic());
    if (worked === undefined) throw new RangeError(`queue ${this.name}: done with ${key}, which nobody is processing`);
    this.#counts.finished(worked);
    this.#handOut();
    this.#tellDrained();
  }

  /** Takes no more keys and forgets the delayed ones. Those in the line are still handed out; after them every `get` says undefined. */
  shutDown(): void {
    this.#shutDown = true;
    this.#delays.close();
    for (const settle of this.#waiters) settle(undefined);
    this.#tellDrained();
  }

  /**
   * Shuts down and waits for the workers.
   * @returns true once no key is in the line or with a worker; false when the signal aborts first
   */
  async drain(signal: AbortSignal): Promise<boolean> {
    this.shutDown();
    if (signal.aborted || this.#drained) return this.#drained;
    return new Promise((resolve) => {
      const settle = (): void => {
        signal.removeEventListener('abort', settle);
        this.#drainers.delete(settle);
        resolve(this.#drained);
      };
      signal.addEventListener('abort', settle, { once: true });
      this.#drainers.add(settle);
    });
  }

  get #drained(): boolean {
    return this.#keys.ready === 0 && this.#keys.processing === 0;
  }

  #tellDrained(): void {
    if (this.#drained) for (const settle of this.#drainers) settle();
  }

  #take(): Key | undefined {
    const taken = this.#keys.get(this.#clock.monotonic());
    if (taken === undefined) return undefined;
    this.#counts.taken(taken.waited);
    return taken.key;
  }

  /** Gives what is ready to the one who has waited longest. */
  #handOut(): void {
    const [settle] = this.#waiters;
    if (settle === undefined) return;
    const key = this.#take();
    if (key !== undefined) settle(key);
  }
}

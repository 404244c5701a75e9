import { abortReason } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** The class of load that a request puts on the server. */
export type PriorityLevel = 'reading' | 'listing' | 'writing';

/** Concurrent requests of each level. */
export type Limits = Readonly<Record<PriorityLevel, number>>;

/**
 * Together with a dozen watches below 100, the streams that newer API servers allow on one connection: more would wait there without being counted. A list
 * costs a server (and its priority-and-fairness queues) as much as many other requests.
 */
export const defaultLimits: Limits = { reading: 32, listing: 4, writing: 50 };

/** Limits concurrency: callers without a slot wait in FIFO order. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`a limit of ${count} requests lets none through`);
    this.#free = count;
  }

  /** Whether `take` returns a slot at once. */
  get isFree(): boolean {
    return this.#free > 0;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A slot, to be disposed of once. @throws the signal's reason; then no slot is taken */
  take(signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortReason(signal));
      const given = () => {
        signal.removeEventListener('abort', abort);
        resolve({ [Symbol.dispose]: () => this.#release() });
      };
      const abort = () => {
        this.#waiting.delete(given);
        reject(abortReason(signal));
      };
      if (this.#free > 0) {
        this.#free--;
        return given();
      }
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(given);
      return undefined;
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** The deadline of a call has passed. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
  /** It passed while the request waited for a slot or for credentials: the server has not seen the request. */
  readonly neverSent: boolean;
  constructor(message: string, { neverSent = false, cause }: { neverSent?: boolean; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.neverSent = neverSent;
  }
}

/** A signal that aborts when the caller's does, and when the time is up. Disposing stops its timer. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #forward = () => this.#controller.abort(this.#caller?.reason);
  readonly #longestMs: Millis | undefined;
  readonly #begun: Millis;
  #afterMs: Millis;
  #from: Millis;
  #stopTimer = (): void => {};

  /**
   * @param afterMs - timeout, in ms; `touch` and `reset` restart it
   * @param longestMs - total timeout that nothing restarts, in ms. @default none
   */
  constructor(clock: Clock, afterMs: Millis, caller?: AbortSignal, longestMs?: Millis) {
    this.#clock = clock;
    this.#caller = caller;
    this.#longestMs = longestMs;
    this.#begun = this.#from = clock.monotonic();
    this.#afterMs = afterMs;
    this.signal = this.#controller.signal;
    if (caller?.aborted) this.#forward();
    else caller?.addEventListener('abort', this.#forward, { once: true });
    this.#start();
  }

  /** Time left, in ms; not below 0. */
  get leftMs(): Millis {
    const now = this.#clock.monotonic();
    const left = this.#from + this.#afterMs - now;
    return Math.max(0, this.#longestMs === undefined ? left : Math.min(left, this.#begun + this.#longestMs - now));
  }

  /** Restarts the timeout after progress. Cheap. */
  touch(): void {
    this.#from = this.#clock.monotonic();
  }

  /** Starts another timeout; undefined: no timeout any more. */
  reset(afterMs: Millis | undefined): void {
    this.#stopTimer();
    if (afterMs === undefined) return;
    this.#afterMs = afterMs;
    this.touch();
    this.#start();
  }

  /** Aborts the signal now, for a reason that is not the caller's. */
  end(reason: Error): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#stopTimer();
    this.#caller?.removeEventListener('abort', this.#forward);
  }

  #start(): void {
    this.#stopTimer = this.#clock.after(this.leftMs, () => this.#ring());
  }

  #ring(): void {
    // There was progress since the timer was set, or the timer fired a little early.
    if (this.leftMs > 0) return this.#start();
    const isCap = this.#longestMs !== undefined && this.#clock.monotonic() - this.#begun >= this.#longestMs;
    this.#controller.abort(
      new DeadlineError(isCap ? `the answer was not complete within ${this.#longestMs} ms` : `no answer within ${this.#afterMs} ms`),
    );
  }
}

interface SlowStartLimits {
  /** Concurrent calls before the first success. @default 1 */
  first?: number;
  /** Most concurrent calls at any time. @default no limit */
  largest?: number;
}

interface SlowStarted<T, R> {
  done: { item: T; value: R }[];
  failed: { item: T; error: unknown }[];
  /** Never tried, since a call failed before, or the signal aborted. */
  skipped: T[];
}

/**
 * Runs `call` for every item, in order, with a growing window: at most `first` plus the number of successes so far run at once. No call starts after the
 * first failure, so that an exhausted quota costs one rejected call and not a thousand. Never rejects; results are in the order of the items.
 *
 * Upstream (`slowStartBatch`) sends batches of 1, 2, 4, ..., each after the whole previous batch was answered. At most as many calls are rejected here, but
 * one slow answer does not delay other calls, and no batch has to drain before the next calls start.
 * @throws {RangeError} for limits below 1
 */
export function slowStart<T, R>(
  items: readonly T[],
  call: (item: T) => Promise<R>,
  { first = 1, largest = Infinity, signal }: SlowStartLimits & { signal?: AbortSignal } = {},
): Promise<SlowStarted<T, R>> {
  if (!(first >= 1 && largest >= 1)) throw new RangeError(`a window of ${Math.min(first, largest)} lets no call through`);
  const outcomes: ({ value: R } | { error: unknown })[] = [];
  let [next, underWay, succeeded, failed] = [0, 0, 0, false];
  return new Promise((resolve) => {
    const attempt = async (at: number, item: T): Promise<void> => {
      try {
        outcomes[at] = { value: await call(item) };
        succeeded++;
      } catch (error) {
        outcomes[at] = { error };
        failed = true;
      }
      underWay--;
      proceed();
    };
    const mayBegin = (): boolean =>
      !failed && signal?.aborted !== true && next < items.length && underWay < Math.min(first + succeeded, largest);
    const proceed = (): void => {
      while (mayBegin()) {
        const at = next++;
        underWay++;
        void attempt(at, items[at] as T);
      }
      if (underWay === 0) resolve(sorted(items, outcomes));
    };
    proceed();
  });
}

function sorted<T, R>(items: readonly T[], outcomes: readonly ({ value: R } | { error: unknown })[]): SlowStarted<T, R> {
  const result: SlowStarted<T, R> = { done: [], failed: [], skipped: items.slice(outcomes.length) };
  for (const [at, outcome] of outcomes.entries()) {
    const item = items[at] as T;
    if ('error' in outcome) result.failed.push({ item, error: outcome.error });
    else result.done.push({ item, value: outcome.value });
  }
  return result;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { InTurns } from '../../base/waiting.ts';
import type { Key } from '../cache/contract.ts';
import { MAX_TEXTS, REMIND_MS } from '../cache/failure-log.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import type { Outcome } from './controller.ts';

/**
 * Moves the object with `key` towards its desired state. Reads the cache again each time; a deleted object is a normal case.
 * @param signal - aborts when the process does not wait for the reconcile any longer
 */
export type Reconcile = (key: Key, signal: AbortSignal) => Promise<Outcome>;

export interface WorkersOptions {
  queue: WorkQueue;
  /** How many keys may be reconciled at once. */
  workers: number;
  reconcile: Reconcile;
  log: Log;
  clock: Clock;
  /** How long running reconciles may continue once the signal aborts, in ms. @default 10_000 */
  drainMs?: Millis;
}

const longestTurn: Millis = 10;

/**
 * Lets long work of several loops take turns of the event loop, so that sockets are served in between. Those that wait continue one in each turn: Node.js
 * runs all that `setImmediate` has queued in one turn, so that 20 loops of 10 ms each would block it for 200 ms.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Of the present turn; undefined: nobody has worked in it yet. */
  #ends: Millis | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether the present turn has taken long enough, counted from the first call in it. */
  isOver(): boolean {
    const now = this.#clock.monotonic();
    return now >= this.#begin(now);
  }

  /** Resolves in another turn, after those who asked before. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => nextTurn()).then(() => void this.#begin(this.#clock.monotonic()));
    return this.#last;
  }

  #begin(now: Millis): Millis {
    if (this.#ends === undefined) {
      this.#ends = now + longestTurn;
      setImmediate(() => (this.#ends = undefined));
    }
    return this.#ends;
  }

  /** Takes as many turns as the work needs. @throws what the work throws; the signal's reason once it aborts */
  async run<T>(work: InTurns<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      if (!this.isOver()) continue;
      await this.next();
      signal.throwIfAborted();
    }
  }
}

/**
 * Reconciles keys of `queue` until `signal` aborts, `workers` at once and never one key twice at once. A failure affects its key only: it is logged, once in
 * ten minutes while it stays the same, and the key is requeued with backoff.
 *
 * When the signal aborts, the queue is shut down: queued keys are dropped, since the next process finds them in the cache. Running reconciles may finish;
 * after `drainMs` their signal aborts too.
 * @returns when the last reconcile has ended, however long that takes
 */
export async function runWorkers(options: WorkersOptions, signal: AbortSignal): Promise<void> {
  const { queue, workers, clock, drainMs = 10_000 } = options;
  const log = options.log.with({ queue: queue.name });
  const running = new Set<AbortController>();
  const stalls = new Stalls(log);
  const failures = new Failures(clock);
  const turns = new Turns(clock);

  const work = async (): Promise<void> => {
    for (let key = await queue.get(signal); key !== undefined; key = await queue.get(signal)) {
      // Reconciles that find nothing to do never leave the microtask queue. Without a break, a resync of many objects would block sockets. Before the reconcile
      // and not after it: a key that is requeued at once is taken by the next idle worker, in the same turn.
      if (turns.isOver()) await turns.next();
      if (signal.aborted) {
        queue.done(key);
        return;
      }
      // A signal for each reconcile: listeners that a reconcile adds to it are released with it.
      const own = new AbortController();
      running.add(own);
      try {
        await reconcileOne(key, { ...options, log }, own.signal, { stalls, failures });
      } finally {
        running.delete(own);
        queue.done(key);
      }
    }
  };

  const ended = new AbortController();
  const drain = async (): Promise<void> => {
    queue.shutDown();
    if (running.size === 0) return;
    await clock.sleep(drainMs, ended.signal).catch(() => {});
    if (running.size > 0) log.warn('reconciles are interrupted', { running: running.size, after: drainMs });
    for (const own of running) own.abort(signal.reason);
  };
  let draining: Promise<void> | undefined;
  const onAbort = (): void => void (draining = drain());
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } finally {
    signal.removeEventListener('abort', onAbort);
    ended.abort();
    await draining;
  }
}

/** Shortest `requeueAfter` of a failed key, in ms: 0 would be a loop without backoff. */
const MIN_FAILED_MS = 1_000;

async function reconcileOne(
  key: Key,
  options: WorkersOptions,
  signal: AbortSignal,
  { stalls, failures }: { stalls: Stalls; failures: Failures },
): Promise<void> {
  const { queue, reconcile, log } = options;
  const failed = (error: unknown): void => {
    if (signal.aborted) return log.debug('reconcile was interrupted', { key });
    queue.addRateLimited(key);
    const fields = { key, failures: queue.retries(key), error: describeThrown(error) };
    if (failures.shouldLog(key, fields.error)) log.warn('reconcile failed', fields);
    else log.debug('reconcile failed again', fields);
  };
  try {
    const outcome = await reconcile(key, signal);
    if ('failed' in outcome) {
      queue.addAfter(key, Math.max(outcome.requeueAfter, MIN_FAILED_MS));
      failed(outcome.failed);
      return;
    }
    if ('requeueAfter' in outcome) {
      // Before `forget`: `addAfter` throws for NaN and Infinity, and that failure must be requeued with backoff.
      queue.addAfter(key, outcome.requeueAfter);
      log.debug('requeued', { key, afterMs: outcome.requeueAfter, why: outcome.why });
    }
    queue.forget(key);
    stalls.note(key, 'stalled' in outcome ? outcome.why : undefined);
  } catch (error) {
    failed(error);
  }
}

/** Any value can be thrown, even one that cannot be printed; a worker must survive it. */
function describeThrown(error: unknown): string {
  try {
    return describeError(error);
  } catch {
    return `a thrown ${typeof error} that cannot be printed`;
  }
}

/** Keys whose failures are remembered. */
const MAX_FAILED = 10_000;

/** Errors of failing keys: events requeue a key sooner than its backoff, so each error is logged once in ten minutes. */
class Failures {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In the order of `since`. */
  readonly #logged = new Map<Key, { texts: Set<string>; since: Millis }>();
  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  shouldLog(key: Key, text: string): boolean {
    const now = this.#clock.monotonic();
    let logged = this.#logged.get(key);
    if (logged === undefined || now - logged.since >= REMIND_MS) {
      this.#logged.delete(key);
      this.#logged.set(key, (logged = { texts: new Set(), since: now }));
      for (const [other, { since }] of this.#logged) {
        if (now - since < REMIND_MS && this.#logged.size <= MAX_FAILED) break;
        this.#logged.delete(other);
      }
    }
    if (logged.texts.has(text) || logged.texts.size === MAX_TEXTS) return false;
    logged.texts.add(text);
    return true;
  }
}

/** Reasons of stalled keys, so that each reason is logged once. Holds stalled keys only. */
class Stalls {
  readonly #why = new Map<Key, string>();
  readonly #log: Log;
  constructor(log: Log) {
    this.#log = log;
  }

  /** @param why - undefined: the key is not stalled */
  note(key: Key, why: string | undefined): void {
    if (this.#why.get(key) === why) return;
    if (why === undefined) {
      this.#why.delete(key);
      this.#log.info('no longer stalled', { key });
    } else {
      this.#why.set(key, why);
      this.#log.info('stalled until something changes', { key, why });
    }
  }
}

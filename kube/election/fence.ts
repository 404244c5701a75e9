import type { Clock, Millis } from '../../base/clock.ts';
import type { Client } from '../client/client.ts';
import { mayHaveTakenEffect } from '../client/errors.ts';

/** Writes that only a leader may make. */
export interface Fence {
  /** Whether no other process can be leader at this moment. Reads the clocks: an earlier result is not valid now. */
  mayWrite(): boolean;
  /**
   * Makes one write call, now or not at all. The signal passed to `call` aborts when leadership is no longer certain, so that a call that waits (for a
   * connection, for a slot) is not sent late.
   * @param signal - the caller's signal
   * @throws {NotLeaderError} without calling, when leadership is not certain
   */
  write<T>(call: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Leadership is not certain, so nothing is written. Not retried: a process that has lost its lease exits. */
export class NotLeaderError extends Error {
  override name = 'NotLeaderError';
  constructor(lease: string, why: string) {
    super(`Cannot write as leader of ${lease}: ${why}`);
  }
}

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Wraps `client` so that every write is rejected unless leadership is certain at that moment. Reads pass. It cannot recall a request that is on its way. A
 * process that is paused between this check and the system call that sends the request sends it when it resumes; so every write names the version (or UID)
 * that its decision is based on, and the server rejects a late write.
 * @throws {NotLeaderError} from every write without leadership
 */
export function fenced(client: Client, fence: Fence): Client {
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, query, options) => client.list(resource, query, options),
    listEach: (resource, query, each, options) => client.listEach(resource, query, each, options),
    watch: (resource, query, signal) => client.watch(resource, query, signal),
    create: (resource, object, options) =>
      fence.write((signal) => client.create(resource, object, { ...options, signal }), options?.signal),
    post: (resource, ref, subresource, body, options) =>
      fence.write((signal) => client.post(resource, ref, subresource, body, { ...options, signal }), options?.signal),
    replace: (resource, object, options) =>
      fence.write((signal) => client.replace(resource, object, { ...options, signal }), options?.signal),
    patch: (resource, ref, patch, options) =>
      fence.write((signal) => client.patch(resource, ref, patch, { ...options, signal }), options.signal),
    delete: (resource, ref, options) => fence.write((signal) => client.delete(resource, ref, { ...options, signal }), options?.signal),
    raw: (method, path, options) =>
      reads.has(method.toUpperCase())
        ? client.raw(method, path, options)
        : fence.write((signal) => client.raw(method, path, { ...options, signal }), options?.signal),
    close: () => client.close(),
  };
}

/** One term of leadership: tracks its writes, and aborts them at its end. */
export class Term {
  /** Higher than that of every earlier term of the same lease. */
  readonly epoch: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ended = new AbortController();
  readonly #pendingWrites = new Set<Promise<unknown>>();
  #unansweredAt: Millis | undefined;

  constructor(epoch: number, clock: Pick<Clock, 'monotonic'>) {
    this.epoch = epoch;
    this.#clock = clock;
  }

  /** Aborts when the term ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  end(lease: string, why: string): void {
    this.#ended.abort(new NotLeaderError(lease, why));
  }

  /** Makes the call; its signal aborts with the term or with `signal`. */
  async write<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const ended = new AbortController(); // one per call, so that long-lived signals accumulate no listeners
    const link = (from: AbortSignal): void => {
      if (from.aborted) ended.abort(from.reason);
      else from.addEventListener('abort', () => ended.abort(from.reason), { once: true, signal: done.signal });
    };
    const done = new AbortController();
    link(this.signal);
    if (signal !== undefined) link(signal);
    const made = call(ended.signal);
    this.#pendingWrites.add(made);
    try {
      return await made;
    } catch (error) {
      if (mayHaveTakenEffect(error)) this.#unansweredAt = this.#clock.monotonic();
      throw error;
    } finally {
      this.#pendingWrites.delete(made);
      done.abort();
    }
  }

  /** Resolves when no write is pending, or when the term ends. */
  async quiet(): Promise<void> {
    const ended = Promise.withResolvers<void>();
    const done = new AbortController();
    if (this.signal.aborted) return;
    this.signal.addEventListener('abort', () => ended.resolve(), { once: true, signal: done.signal });
    while (this.#pendingWrites.size > 0 && !this.signal.aborted)
      await Promise.race([Promise.allSettled(this.#pendingWrites), ended.promise]);
    done.abort();
  }

  /** A write is pending, or one of the last `ms` got no response from the server itself: it may still take effect, as behind a proxy that answered 504. */
  mayBeUnfinished(ms: Millis): boolean {
    return this.#pendingWrites.size > 0 || (this.#unansweredAt !== undefined && this.#clock.monotonic() - this.#unansweredAt < ms);
  }
}

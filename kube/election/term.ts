import { ApiError } from '../client/errors.ts';
import { NotLeaderError } from './fence.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** One time of leadership: the writes made in it, and the end that ends them. */
export class Term {
  /** Higher than that of every earlier term of the same lease. */
  readonly epoch: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #over = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #unansweredAt: Millis | undefined;

  constructor(epoch: number, clock: Pick<Clock, 'monotonic'>) {
    this.epoch = epoch;
    this.#clock = clock;
  }

  /** Aborts when the term ends. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  end(lease: string, why: string): void {
    this.#over.abort(new NotLeaderError(lease, why));
  }

  /** Makes the call; its signal aborts with the term or with `signal`. */
  async write<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const ended = new AbortController(); // for one call, so that a signal of years gathers no listeners
    const link = (from: AbortSignal): void => {
      if (from.aborted) ended.abort(from.reason);
      else from.addEventListener('abort', () => ended.abort(from.reason), { once: true, signal: done.signal });
    };
    const done = new AbortController();
    link(this.signal);
    if (signal !== undefined) link(signal);
    const made = call(ended.signal);
    this.#underWay.add(made);
    try {
      return await made;
    } catch (error) {
      if (!(error instanceof ApiError)) this.#unansweredAt = this.#clock.monotonic();
      throw error;
    } finally {
      this.#underWay.delete(made);
      done.abort();
    }
  }

  /** Resolves when no write is under way, or with the term. */
  async quiet(): Promise<void> {
    const ended = Promise.withResolvers<void>();
    const done = new AbortController();
    if (this.signal.aborted) return;
    this.signal.addEventListener('abort', () => ended.resolve(), { once: true, signal: done.signal });
    while (this.#underWay.size > 0 && !this.signal.aborted) await Promise.race([Promise.allSettled(this.#underWay), ended.promise]);
    done.abort();
  }

  /** A write of the last `ms` had no answer: the server may still get it. */
  mayBeUnfinished(ms: Millis): boolean {
    return this.#underWay.size > 0 || (this.#unansweredAt !== undefined && this.#clock.monotonic() - this.#unansweredAt < ms);
  }
}

import { backoff, type BackoffLimits } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { isExpired, retryAfterOf } from './errors.ts';

/** Failures in a row, and 410s without a working watch between them. */
export interface Pace {
  failures: number;
  expirations: number;
}

/** The result of a list or watch request, or an event during it. */
export type Turn =
  | { kind: 'listed' }
  /** An event or a bookmark came. */
  | { kind: 'event' }
  | { kind: 'ended'; lastedMs: Millis }
  | { kind: 'expired' }
  | { kind: 'failed'; lastedMs: Millis; retryAfterMs: Millis | undefined };

export const freshPace: Pace = { failures: 0, expirations: 0 };

const LIMITS: BackoffLimits = { base: 500, cap: 30_000 };
/** A longer `Retry-After` is cut to this: a wrong value must not keep a node from its assignments. */
const MAX_RETRY_AFTER: Millis = 5 * 60_000;
/** A watch that ends sooner counts as a failure: reconnecting at once to a server that ends every watch at once would be a busy loop. */
const SHORTEST_WATCH: Millis = 1_000;
/** A watch that lasted this long shows that the server was healthy, even without an event. */
const PROVEN_WATCH: Millis = 30_000;

/**
 * The wait before the next request, in ms. The first 410 lists again at once: a restarted server answers it to every client. Only 410 after 410 backs off.
 */
export function pace(before: Pace, turn: Turn, random: Random): { pace: Pace; waitMs: Millis } {
  switch (turn.kind) {
    case 'event':
      return { pace: freshPace, waitMs: 0 };
    case 'listed':
      return { pace: { ...before, failures: 0 }, waitMs: 0 };
    case 'ended':
      return turn.lastedMs >= SHORTEST_WATCH ? { pace: freshPace, waitMs: 0 } : failed(before, 0, random);
    case 'expired': {
      const { expirations } = before;
      const waitMs = expirations === 0 ? 0 : backoff(expirations, LIMITS, random);
      return { pace: { failures: 0, expirations: expirations + 1 }, waitMs };
    }
    case 'failed':
      return failed(turn.lastedMs >= PROVEN_WATCH ? freshPace : before, turn.retryAfterMs ?? 0, random);
    default:
      return unreachable(turn);
  }
}

function failed(before: Pace, retryAfterMs: Millis, random: Random): { pace: Pace; waitMs: Millis } {
  const failures = before.failures + 1;
  const asked = Math.min(retryAfterMs, MAX_RETRY_AFTER);
  return { pace: { ...before, failures }, waitMs: Math.max(asked, backoff(failures, LIMITS, random)) };
}

/** The server ends a watch after 5 to 10 minutes, so that clients spread over its replicas again. */
const WATCH_SECONDS = { least: 300, spread: 300 };

/** One list or watch request, and the handling of its failure. Both return ms to wait before the next request. */
export interface WatchRequests {
  /** @param from - when the request began, on the monotonic clock */
  next(from: Millis): Promise<Millis>;
  failed(error: unknown, lastedMs: Millis): Millis;
}

/** Makes one request after another until the signal aborts: the driver that the reflector and the watch of a single object share. */
export class WatchLoop {
  readonly #clock: Clock;
  readonly #random: Random;
  #pace: Pace = freshPace;

  constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#pace.failures;
  }

  /** Runs until the signal aborts, whatever the server does. @throws what a handler throws in {@link handled}, and nothing else */
  async run(requests: WatchRequests, signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        const waitMs = await this.#request(requests, signal);
        // Rejects only when the signal aborts, and then the loop ends.
        if (waitMs > 0) await this.#clock.sleep(waitMs, signal).catch(() => {});
      }
    } catch (error) {
      const failure = handlerFailureIn(error);
      throw failure === undefined ? error : failure.cause;
    }
  }

  async #request(requests: WatchRequests, signal: AbortSignal): Promise<Millis> {
    const from = this.#clock.monotonic();
    try {
      return await requests.next(from);
    } catch (error) {
      if (handlerFailureIn(error) !== undefined) throw error;
      return signal.aborted ? 0 : requests.failed(error, this.#clock.monotonic() - from);
    }
  }

  /** @returns ms to wait before the next request */
  turn(turn: Turn): Millis {
    const { pace: after, waitMs } = pace(this.#pace, turn, this.#random);
    this.#pace = after;
    return waitMs;
  }

  /** @returns whether the failure is routine: the first 410, which a restarted server answers to everyone, is; 410 after 410 is not */
  afterFailure(error: unknown, lastedMs: Millis): { waitMs: Millis; isRoutine: boolean } {
    if (!isExpired(error)) return { waitMs: this.turn({ kind: 'failed', lastedMs, retryAfterMs: retryAfterOf(error) }), isRoutine: false };
    const waitMs = this.turn({ kind: 'expired' });
    return { waitMs, isRoutine: waitMs === 0 };
  }

  /** For the next watch. */
  timeoutSeconds(): number {
    return Math.round(WATCH_SECONDS.least + this.#random() * WATCH_SECONDS.spread);
  }
}

/** Carries a handler's error past the retries: a bug of the handler is not a failure of the server. */
class HandlerFailure extends Error {
  override name = 'HandlerFailure';
}

/** Calls a handler from within a request. @throws {HandlerFailure} with what the handler throws as its cause */
export function handled<R>(call: () => R): R {
  try {
    return call();
  } catch (cause) {
    throw new HandlerFailure('a handler of a watch failed', { cause });
  }
}

/** The same for a handler that takes more than one turn. */
export async function handledAsync(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (cause) {
    throw new HandlerFailure('a handler of a watch failed', { cause });
  }
}

/** A client wraps an error that is thrown while it reads, as if it were its own failure. */
function handlerFailureIn(error: unknown): HandlerFailure | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof HandlerFailure) return at;
  return undefined;
}

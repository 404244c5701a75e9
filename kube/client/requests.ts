import { BrokenConnection, type WireResponse } from './connection.ts';
import { Deadline, DeadlineError, type Limits, type PriorityLevel, Semaphore } from './limits.ts';
import { ClosedError, type Transport, transportErrorFrom, type TransportRequest, type TransportResponse } from './transport.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { AnswerReader } from './answer.ts';
import type { Call } from './errors.ts';

export interface Exchange {
  call: Call;
  level: PriorityLevel;
  request: Omit<TransportRequest, 'signal'>;
  /** Timeout of the whole call, from when it has a slot; for a list: the longest silence. */
  timeoutMs: Millis;
  signal: AbortSignal | undefined;
}

export interface RequestDeps {
  clock: Clock;
  random: Random;
  reader: AnswerReader;
  metrics: RestMetrics;
  limits: Limits;
  /** Timeout of a whole list, even while bytes arrive. */
  longestListMs: Millis;
}

/** Longest wait for a slot. Earlier requests end within their own timeouts; a server that answers nothing for so long has other problems. */
const MAX_QUEUED_MS: Millis = 5 * 60_000;
const never = new AbortController().signal;

/** Sends requests and reads their answers: limits concurrency per priority level, retries where the server asks for it, and enforces deadlines. */
export class Requests {
  readonly #transport: Transport;
  readonly #deps: RequestDeps;
  readonly #semaphores: Readonly<Record<PriorityLevel, Semaphore>>;

  constructor(transport: Transport, deps: RequestDeps) {
    const { reading, listing, writing } = deps.limits;
    this.#transport = transport;
    this.#deps = deps;
    this.#semaphores = { reading: new Semaphore(reading), listing: new Semaphore(listing), writing: new Semaphore(writing) };
  }

  /**
   * @param read - reads the body of a 2xx answer
   * @throws {ApiError} {TransportError} {ActionError}, or the reason of the exchange's signal
   */
  async run<T>(exchange: Exchange, read: (answer: WireResponse, deadline: Deadline) => Promise<T>): Promise<T> {
    const { call, level, signal } = exchange;
    const { clock, metrics, longestListMs } = this.#deps;
    const from = clock.monotonic();
    let deadline: Deadline | undefined;
    try {
      for (let tries = 1; ; tries++) {
        let waitMs: Millis;
        {
          const asked = clock.monotonic();
          using _slot = await this.#turn(level, deadline?.signal ?? signal);
          // The deadline begins after the wait for a slot, which is not the server's fault.
          deadline ??= new Deadline(clock, exchange.timeoutMs, signal, level === 'listing' ? longestListMs : undefined);
          const result = await this.#attempt(exchange, deadline, { tries, waitedMs: clock.monotonic() - asked }, read);
          if ('value' in result) return result.value;
          ({ waitMs } = result);
        }
        // The slot is released first: other requests may succeed during the wait, and a lease renewal must not queue behind rejected pods.
        await clock.sleep(waitMs, deadline.signal);
      }
    } catch (error) {
      throw this.failure(error, call, signal);
    } finally {
      deadline?.[Symbol.dispose]();
      metrics.took({ verb: call.method, host: call.host, seconds: (clock.monotonic() - from) / 1_000 });
    }
  }

  /**
   * A slot of this priority level, in FIFO order.
   * @param signal - of the caller, or of the call's deadline once it runs
   * @throws {DeadlineError} with `neverSent` after 5 minutes: earlier tries of this call were rejected before they were executed
   */
  async #turn(level: PriorityLevel, signal: AbortSignal | undefined): Promise<Disposable> {
    const semaphore = this.#semaphores[level];
    if (semaphore.isFree && signal === undefined) return semaphore.take(never);
    if (semaphore.isFree && signal?.aborted === false) return semaphore.take(signal);
    using queued = new Deadline(this.#deps.clock, MAX_QUEUED_MS, signal);
    try {
      return await semaphore.take(queued.signal);
    } catch (cause) {
      if (!(cause instanceof DeadlineError)) throw cause;
      throw new DeadlineError(`it was not sent, because too many requests are waiting for this server: ${cause.message}`, {
        neverSent: true,
        cause,
      });
    }
  }

  /** The error that a call throws for `error`. @param signal - the caller's */
  failure(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
    const cutByUs = this.#transport.isClosed && error instanceof BrokenConnection;
    return transportErrorFrom(cutByUs ? new ClosedError('the client is closed', { cause: error }) : error, call, signal);
  }

  /** Returns status and headers, and counts the answer. No concurrency limit and no retries: watches have their own pace. */
  async send(request: TransportRequest, call: Call): Promise<TransportResponse> {
    const { metrics } = this.#deps;
    try {
      const answer = await this.#transport.request(request);
      metrics.answered({ code: String(answer.status), method: call.method, host: call.host });
      return answer;
    } catch (error) {
      metrics.answered({ code: '<error>', method: call.method, host: call.host });
      throw error;
    }
  }

  async #attempt<T>(
    { call, request }: Exchange,
    deadline: Deadline,
    { tries, waitedMs }: { tries: number; waitedMs: Millis },
    read: (answer: WireResponse, deadline: Deadline) => Promise<T>,
  ): Promise<{ value: T } | { waitMs: Millis }> {
    const { reader, random, metrics } = this.#deps;
    const answer = await this.send({ ...request, signal: deadline.signal }, call);
    try {
      const { status } = answer;
      metrics.waited({ verb: call.method, host: call.host, seconds: waitedMs / 1_000 });
      const refusal = { method: call.method, status, retryAfterMs: reader.retryAfterMs(answer), tries, leftMs: deadline.leftMs };
      const waitMs = retryWaitMs(refusal, random);
      if (waitMs !== undefined) {
        await reader.skip(answer);
        metrics.retried({ code: String(status), verb: call.method, host: call.host });
        return { waitMs };
      }
      await reader.refuseFailure(answer, call);
      return { value: await read(answer, deadline) };
    } finally {
      answer.cancel();
    }
  }
}

/** A request with a longer Retry-After fails at once: the caller can do something else in that time. */
export const MAX_WAIT: Millis = 10_000;
const MAX_TRIES = 4;
/** Requests that were rejected together should not be retried together. */
const MAX_JITTER: Millis = 1_000;

export interface Refusal {
  method: string;
  status: number;
  /** From the header. The one in a Status' details is left to the caller: for an eviction it is when the disruption budget may allow it. */
  retryAfterMs: Millis | undefined;
  /** How often this request was sent so far. */
  tries: number;
  /** Remaining time of the call. */
  leftMs: Millis;
}

/**
 * How long to wait before a rejected request is sent again; undefined: no retry, the caller gets the error. 429 means that the server rejected the request
 * before executing it, so every request may be retried. 503 may come from a proxy that lost the answer, so only reads are retried. Neither without
 * `Retry-After`: a server that names no time has not asked for a retry.
 */
export function retryWaitMs({ method, status, retryAfterMs, tries, leftMs }: Refusal, random: Random): Millis | undefined {
  if (status !== 429 && !(status === 503 && method === 'GET')) return undefined;
  if (retryAfterMs === undefined || retryAfterMs > MAX_WAIT || tries >= MAX_TRIES) return undefined;
  const waitMs = retryAfterMs + random() * Math.min(MAX_JITTER, Math.max(retryAfterMs, 100));
  return waitMs < leftMs ? waitMs : undefined;
}

/** Metrics of a client's requests. Hosts are `name:port`, verbs HTTP methods, times in seconds. */
export interface RestMetrics {
  /** An attempt was answered with this status; `<error>`: it was not answered. */
  answered(to: { code: string; method: string; host: string }): void;
  /** A request ended, including its retries and its body. */
  took(to: { verb: string; host: string; seconds: number }): void;
  /** A request is retried after this status. */
  retried(to: { code: string; verb: string; host: string }): void;
  /** A request waited for a slot of its priority level. */
  waited(to: { verb: string; host: string; seconds: number }): void;
  dialled(to: { host: string; result: 'h2' | 'http/1.1' | 'error' }): void;
  /** A connection was closed because the server did not answer on it. */
  foundDead(to: { host: string }): void;
}

export const noRestMetrics: RestMetrics = {
  answered() {},
  took() {},
  retried() {},
  waited() {},
  dialled() {},
  foundDead() {},
};

import { BrokenConnection } from './connection.ts';
import { Deadline } from './deadline.ts';
import { retryWaitMs } from './retry-after.ts';
import { Slots } from './slots.ts';
import { ClosedError } from './transport.ts';
import { transportErrorFrom } from './transport-error.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { AnswerReader } from './answer.ts';
import type { WireResponse } from './connection.ts';
import type { Call } from './errors.ts';
import type { RestMetrics } from './rest-metrics.ts';
import type { Limits, Load } from './slots.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface Exchange {
  call: Call;
  load: Load;
  request: Omit<TransportRequest, 'signal'>;
  /** For the whole, waiting included; while listing: the longest silence. */
  timeoutMs: Millis;
  signal: AbortSignal | undefined;
}

export interface RequestDeps {
  clock: Clock;
  random: Random;
  reader: AnswerReader;
  metrics: RestMetrics;
  limits: Limits;
  /** The whole of a list, however well it flows. */
  longestListMs: Millis;
}

/** Sends requests and reads their answers: so many at once per load, again where the server asks for it, and never beyond their time. */
export class Requests {
  readonly #transport: Transport;
  readonly #deps: RequestDeps;
  readonly #slots: Readonly<Record<Load, Slots>>;

  constructor(transport: Transport, deps: RequestDeps) {
    const { reading, listing, writing } = deps.limits;
    this.#transport = transport;
    this.#deps = deps;
    this.#slots = { reading: new Slots(reading), listing: new Slots(listing), writing: new Slots(writing) };
  }

  /**
   * @param read - reads the body of a 2xx answer
   * @throws {ApiError} {TransportError} {ActionError}, or the reason of the exchange's signal
   */
  async run<T>(exchange: Exchange, read: (answer: WireResponse, deadline: Deadline) => Promise<T>): Promise<T> {
    const { call, load, signal } = exchange;
    const { clock, metrics, longestListMs } = this.#deps;
    using deadline = new Deadline(clock, exchange.timeoutMs, signal, load === 'listing' ? longestListMs : undefined);
    const from = clock.monotonic();
    try {
      for (let tries = 1; ; tries++) {
        const result = await this.#attempt(exchange, deadline, tries, read);
        if ('value' in result) return result.value;
        // Without a slot: others may be welcome meanwhile, and a lease must not wait behind refused pods.
        await clock.sleep(result.waitMs, deadline.signal);
      }
    } catch (error) {
      throw this.failure(error, call, signal);
    } finally {
      metrics.took({ verb: call.method, host: call.host, seconds: (clock.monotonic() - from) / 1_000 });
    }
  }

  /** What a call throws that failed with `error`. @param signal - the caller's */
  failure(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
    const cutByUs = this.#transport.isClosed && error instanceof BrokenConnection;
    return transportErrorFrom(cutByUs ? new ClosedError('the client is closed', { cause: error }) : error, call, signal);
  }

  /** The answer's head, counted. Not limited and not sent again after a refusal: watches have a pace of their own. */
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
    { call, load, request }: Exchange,
    deadline: Deadline,
    tries: number,
    read: (answer: WireResponse, deadline: Deadline) => Promise<T>,
  ): Promise<{ value: T } | { waitMs: Millis }> {
    const { clock, reader, random, metrics } = this.#deps;
    const from = clock.monotonic();
    using _slot = await this.#slots[load].take(deadline.signal);
    const waitedMs = clock.monotonic() - from;
    // Lists may wait long for each other, and none of that is the server's silence.
    if (load === 'listing') deadline.touch();
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

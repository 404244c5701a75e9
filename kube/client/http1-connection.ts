import { monotonicMs, type Millis } from '../../base/clock.ts';
import { abortReason } from '../../base/waiting.ts';
import { http, https } from './builtins.ts';
import { BrokenConnection, type Connection, ProxyError, readBody, type WireRequest, type WireResponse } from './connection.ts';
import { KEEP_ALIVE_MS } from './open-socket.ts';
import { hostOf, portOf, proxyHeaders } from './proxy.ts';
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Endpoint } from './credentials.ts';
import type { PingOptions } from './http2-connection.ts';

type BaseOptions = Omit<RequestOptions, 'headers'> & { headers: Record<string, string> };
type OneRequest = Pick<WireRequest, 'method' | 'path' | 'headers'> & { signal?: AbortSignal };
type Send = (options: RequestOptions, answered: (message: IncomingMessage) => void) => ClientRequest;

export interface Http1Options {
  connectTimeoutMs: Millis;
  ping: PingOptions;
  /** Called when the server stops answering. */
  foundDead: () => void;
}

/** HTTP/1.1: a socket for each pending request, kept for the next one. For `http://` servers and servers without HTTP/2. */
export class Http1Connection implements Connection {
  readonly #agent: Agent;
  readonly #send: Send;
  readonly #options: BaseOptions;
  /** Prefix of every path: a proxy needs absolute URLs. */
  readonly #base: string;
  /** Only where requests go to the proxy itself; a tunnel looks like a direct connection. */
  readonly #proxy: URL | undefined;
  readonly #liveness: Liveness;
  /** Pending requests, by the function that fails them. */
  readonly #pending = new Set<(cause: Error) => void>();
  /** Aborts when no request holds a socket any more, or may get one. */
  readonly #over = new AbortController();
  #retired = false;

  private constructor(
    agent: Agent,
    send: Send,
    options: BaseOptions,
    { ping, foundDead }: Http1Options,
    route?: { proxy: URL; server: URL },
  ) {
    this.#agent = agent;
    this.#send = send;
    this.#options = options;
    this.#proxy = route?.proxy;
    this.#base = route === undefined ? '' : route.server.origin;
    this.#liveness = new Liveness(
      (timeoutMs) => this.#probe(timeoutMs),
      ping,
      (cause) => {
        foundDead();
        this.retire();
        for (const fail of this.#pending) fail(new Error('the server stopped answering', { cause }));
      },
    );
  }

  /** @param connect - makes a socket to an https:// server; needed for those only */
  static open(
    { server, tls, proxy }: Endpoint,
    options: Http1Options,
    connect?: (signal: AbortSignal) => Promise<Duplex>,
  ): Http1Connection {
    const pool = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, timeout: 0, scheduling: 'lifo' } as const;
    const to = (at: URL, headers = {}) => ({ host: hostOf(at), port: portOf(at), timeout: options.connectTimeoutMs, headers });
    if (tls !== undefined && connect !== undefined) {
      const agent = new (https().Agent)(pool);
      const connection = new Http1Connection(agent, https().request, to(server), options);
      agent.createConnection = (_options, created) => {
        connect(connection.#over.signal).then(
          (socket) => created?.(null, socket),
          (error: Error) => created?.(error, undefined as never),
        );
        return undefined;
      };
      return connection;
    }
    if (proxy === undefined) return new Http1Connection(new (http().Agent)(pool), http().request, to(server), options);
    const { Agent, request } = proxy.protocol === 'https:' ? https() : http();
    const headers = { host: server.host, ...proxyHeaders(proxy) };
    return new Http1Connection(new Agent(pool), request, to(proxy, headers), options, { proxy, server });
  }

  get usable(): boolean {
    return !this.#retired;
  }

  get isOver(): boolean {
    return this.#retired && this.#pending.size === 0;
  }

  send(request: WireRequest): Promise<WireResponse> {
    const { signal, method, path, headers, body } = request;
    return new Promise((resolve, reject) => {
      let answer: IncomingMessage | undefined;
      let connected = false;
      const contentLength: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = this.#request({ method, path, headers: { ...headers, ...contentLength }, signal }, (message) => {
        answer = message;
        this.#liveness.received();
        message.once('close', ended);
        resolve(answerOf(message, signal, () => this.#liveness.received()));
      });
      const fail = (cause: Error) => {
        (answer ?? outgoing).destroy(cause);
        if (!connected) broken(new BrokenConnection('never', 'no connection could be made', cause));
      };
      this.#pending.add(fail);
      this.#liveness.begin();
      const ended = () => {
        if (!this.#pending.delete(fail)) return;
        this.#liveness.end();
        signal.removeEventListener('abort', aborted);
        if (this.isOver) this.#shut();
      };
      // A request that waits for its socket emits no event, not even when it is aborted.
      const broken = (cause: Error) => {
        ended();
        reject(cause);
      };
      const aborted = () => broken(abortReason(signal));
      signal.addEventListener('abort', aborted, { once: true });
      outgoing.once('socket', (socket) => {
        const ready = () => {
          connected = true;
          socket.setTimeout(0);
          socket.setKeepAlive(true, KEEP_ALIVE_MS);
        };
        if (!socket.connecting) ready();
        else socket.once('connect', ready);
      });
      outgoing.once('timeout', () => {
        if (!connected) outgoing.destroy(new Error('no connection in time'));
      });
      outgoing.on('error', (error) => {
        // The next request dials again, and negotiates the protocol again.
        if (!connected) this.retire();
        if (signal.aborted) aborted();
        else
          broken(
            new BrokenConnection(connected ? 'perhaps' : 'never', 'the connection ended before the answer did', this.#explained(error)),
          );
      });
      outgoing.end(body);
    });
  }

  retire(): void {
    this.#retired = true;
    if (this.isOver) this.#shut();
  }

  destroy(): void {
    this.#retired = true;
    this.#shut();
  }

  #shut(): void {
    this.#over.abort(new Error('the connection was closed'));
    this.#agent.destroy();
  }

  #request({ path, headers, ...options }: OneRequest, answered: (message: IncomingMessage) => void): ClientRequest {
    const all = { ...this.#options.headers, ...headers };
    return this.#send({ ...this.#options, ...options, headers: all, path: `${this.#base}${path}`, agent: this.#agent }, answered);
  }

  /** A failing proxy is not a failure of the server behind it. */
  #explained(error: Error): Error {
    return this.#proxy === undefined ? error : new ProxyError(this.#proxy, error.message, error);
  }

  /** Any answer counts, so credentials are not sent. On a new socket: those of pending requests are busy. */
  #probe(timeoutMs: Millis): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = this.#request({ method: 'GET', path: '/version', headers: {} }, (message) => {
        clearTimeout(timer);
        message.resume();
        resolve();
      });
      const timer = setTimeout(() => {
        const silence = new Error(`the server answered nothing within ${timeoutMs} ms`);
        asked.destroy(silence);
        reject(silence); // a request without a socket emits the error only once it has one
      }, timeoutMs);
      timer.unref();
      asked.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      asked.end();
    });
  }
}

function answerOf(message: IncomingMessage, signal: AbortSignal, onChunk: () => void): WireResponse {
  return {
    status: message.statusCode ?? 0,
    header: (name) => {
      const value = message.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: readBody(
      message,
      signal,
      () => {
        if (!message.complete) throw new BrokenConnection('perhaps', 'the connection ended before the answer did');
      },
      onChunk,
    ),
    cancel: () => message.destroy(),
  };
}

/**
 * HTTP/1.1 has no PING: while answers are pending and no byte arrives, a probe request is sent from time to time. TCP's own probes detect a lost peer, but
 * the kernel of a frozen process still answers them.
 */
class Liveness {
  readonly #probe: (timeoutMs: Millis) => Promise<void>;
  readonly #options: PingOptions;
  readonly #dead: (cause: unknown) => void;
  #pending = 0;
  #receivedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe - resolves with any answer */
  constructor(probe: (timeoutMs: Millis) => Promise<void>, options: PingOptions, dead: (cause: unknown) => void) {
    this.#probe = probe;
    this.#options = options;
    this.#dead = dead;
  }

  /** A request starts to wait for its answer. */
  begin(): void {
    if (this.#pending++ > 0) return;
    this.received();
    this.#arm(this.#options.everyMs);
  }

  end(): void {
    if (--this.#pending === 0) clearTimeout(this.#timer);
  }

  /** Bytes arrived from the server, on any socket. */
  received(): void {
    this.#receivedAt = monotonicMs();
  }

  #arm(afterMs: Millis): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), afterMs);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const { everyMs, timeoutMs } = this.#options;
    const quietMs = monotonicMs() - this.#receivedAt;
    if (quietMs < everyMs) return this.#arm(everyMs - quietMs);
    try {
      await this.#probe(timeoutMs);
    } catch (error) {
      if (this.#pending > 0) this.#dead(error);
      return;
    }
    this.received();
    if (this.#pending > 0) this.#arm(everyMs);
  }
}

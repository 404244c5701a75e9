import { http, https } from './builtins.ts';
import { abortReason, BrokenConnection, readWhole } from './connection.ts';
import { hostOf, portOf } from './server-address.ts';
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Connection, WireRequest, WireResponse } from './connection.ts';
import type { Endpoint } from './credentials.ts';

/** TCP probes start after this silence; the kernel gives up about ten seconds later. A watch has no other way to notice a dead peer. */
const KEEP_ALIVE_MS = 15_000;

type Send = (options: RequestOptions, answer: (message: IncomingMessage) => void) => ClientRequest;

/** HTTP/1.1: a socket per request under way, kept for the next one. For `http://` servers and those that do not speak HTTP/2. */
export class Http1Connection implements Connection {
  readonly #agent: Agent;
  readonly #send: Send;
  readonly #options: RequestOptions;
  #underWay = 0;
  #retired = false;

  private constructor(agent: Agent, send: Send, options: RequestOptions) {
    this.#agent = agent;
    this.#send = send;
    this.#options = options;
  }

  static open(endpoint: Endpoint, connectTimeoutMs: number): Http1Connection {
    const { server, tls } = endpoint;
    const pool = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, timeout: 0, scheduling: 'lifo' } as const;
    const options: RequestOptions = { host: hostOf(server), port: portOf(server), timeout: connectTimeoutMs };
    if (tls === undefined) return new Http1Connection(new (http().Agent)(pool), http().request, options);
    const agent = new (https().Agent)({
      ...pool,
      secureContext: tls.context,
      rejectUnauthorized: tls.verify,
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    });
    return new Http1Connection(agent, https().request, options);
  }

  get usable(): boolean {
    return !this.#retired;
  }

  get isOver(): boolean {
    return this.#retired && this.#underWay === 0;
  }

  send(request: WireRequest): Promise<WireResponse> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const length = request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) };
      const outgoing = this.#send(
        {
          ...this.#options,
          agent: this.#agent,
          method: request.method,
          path: request.path,
          headers: { ...request.headers, ...length },
          signal,
        },
        (message) => {
          message.once('close', ended);
          resolve(answerOf(message, signal));
        },
      );
      this.#underWay++;
      let isOver = false;
      const ended = () => {
        if (isOver) return;
        isOver = true;
        this.#underWay--;
        if (this.#retired && this.#underWay === 0) this.#agent.destroy();
      };
      let connected = false;
      outgoing.once('socket', (socket) => {
        const ready = () => {
          connected = true;
          socket.setTimeout(0);
          socket.setKeepAlive(true, KEEP_ALIVE_MS);
        };
        if (!socket.connecting) ready();
        else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready);
      });
      outgoing.once('timeout', () => {
        if (!connected) outgoing.destroy(new Error('no connection in time'));
      });
      outgoing.on('error', (error) => {
        ended();
        // The next request dials anew, and finds out again what the server speaks.
        if (!connected) this.retire();
        if (signal.aborted) reject(abortReason(signal));
        else reject(new BrokenConnection(connected ? 'perhaps' : 'never', 'the connection ended before the answer did', error));
      });
      outgoing.end(request.body);
    });
  }

  retire(): void {
    this.#retired = true;
    if (this.#underWay === 0) this.#agent.destroy();
  }

  destroy(): void {
    this.#retired = true;
    this.#agent.destroy();
  }
}

function answerOf(message: IncomingMessage, signal: AbortSignal): WireResponse {
  return {
    status: message.statusCode ?? 0,
    header: (name) => {
      const value = message.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: readWhole(message, signal, () => {
      if (!message.complete) throw new BrokenConnection('perhaps', 'the connection ended before the answer did');
    }),
    cancel: () => message.destroy(),
  };
}

import { abortReason } from '../../base/waiting.ts';
import { http2 } from './builtins.ts';
import { BrokenConnection, readBody } from './connection.ts';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Connection, WireRequest, WireResponse } from './connection.ts';

// RFC 9113, section 7.
const NGHTTP2_NO_ERROR = 0;
const NGHTTP2_REFUSED_STREAM = 7;
const NGHTTP2_CANCEL = 8;

/** Bytes that the server may send before they are read. With the default of 64 KB a list of 100 MB waits 1,600 round trips. */
const WINDOW_BYTES = 16 * 1024 * 1024;

export interface PingOptions {
  /** Time between two PINGs, in ms. @default 15_000 */
  everyMs: number;
  /** How long a PING may stay without an answer, in ms. With `everyMs`, the time until a half-open socket is noticed. @default 10_000 */
  timeoutMs: number;
}

/**
 * One HTTP/2 connection over a socket that has agreed on `h2`.
 * A PING without an answer ends it: this detects a socket whose peer disappeared without closing it.
 */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session;
  /** Set on each request: Node's own value lacks the brackets of an IPv6 address, which proxies reject. */
  readonly #authority: string;
  readonly #socket: Duplex;
  readonly #pinger: NodeJS.Timeout;
  readonly #streams = new Set<ClientHttp2Stream>();
  #retired = false;
  #pinging = false;
  /** The last stream id in the server's GOAWAY: later streams were never processed. */
  #lastProcessed = Number.POSITIVE_INFINITY;
  #cause: unknown;

  /** @param foundDead - called when a PING stays without an answer */
  constructor(server: URL, socket: Duplex, ping: PingOptions, foundDead: () => void = () => {}) {
    this.#socket = socket;
    this.#authority = server.host;
    this.#session = http2().connect(server, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      // In MB. The default of 10 rejects streams as soon as a few large answers wait to be read.
      maxSessionMemory: 256,
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(WINDOW_BYTES));
    this.#session.on('error', (error) => (this.#cause ??= error));
    this.#session.on('goaway', (code, lastStreamId) => {
      this.#lastProcessed = Math.min(this.#lastProcessed, lastStreamId);
      this.#cause ??= new Error(`the server sent GOAWAY (code ${code})`);
      this.retire();
    });
    // A retired session closes its own side and then waits for the server's, which may stay open forever.
    socket.once('finish', () => socket.destroy());
    // Idle connections are pinged too, so that the next request does not start on a dead one.
    this.#pinger = setInterval(() => this.#ping(ping.timeoutMs, foundDead), ping.everyMs);
    this.#pinger.unref();
    this.#session.once('close', () => {
      clearInterval(this.#pinger);
      this.#retired = true;
    });
  }

  get usable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  get isOver(): boolean {
    return this.#socket.destroyed;
  }

  send(request: WireRequest): Promise<WireResponse> {
    const { signal } = request;
    if (signal.aborted) return Promise.reject(abortReason(signal));
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(
        { ...request.headers, ':method': request.method, ':authority': this.#authority, ':path': request.path },
        { endStream: request.body === undefined },
      );
    } catch (cause) {
      return Promise.reject(new BrokenConnection('never', 'the connection has ended', this.#cause ?? cause));
    }
    this.#streams.add(stream);
    if (request.body !== undefined) stream.end(request.body);
    return new Promise((resolve, reject) => {
      let failure: unknown;
      let isAnswered = false;
      const abort = () => {
        // A retired session only ends after its streams: the server must learn that this one was cancelled.
        stream.close(NGHTTP2_CANCEL);
        stream.destroy();
        reject(abortReason(signal));
      };
      signal.addEventListener('abort', abort, { once: true });
      stream.on('error', (error) => (failure ??= error));
      stream.once('response', (headers) => {
        isAnswered = true;
        resolve(this.#answer(stream, headers, signal));
      });
      stream.once('close', () => {
        signal.removeEventListener('abort', abort);
        this.#streams.delete(stream);
        if (!isAnswered) reject(this.#broken(stream, failure));
      });
    });
  }

  retire(): void {
    this.#retired = true;
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  destroy(): void {
    this.#retired = true;
    clearInterval(this.#pinger);
    // Without an error Node ends pending bodies as if they were complete.
    this.#session.destroy(this.#cause instanceof Error ? this.#cause : new Error('the connection was closed'), NGHTTP2_CANCEL);
    this.#socket.destroy();
  }

  #answer(stream: ClientHttp2Stream, headers: IncomingHttpHeaders & IncomingHttpStatusHeader, signal: AbortSignal): WireResponse {
    return {
      status: headers[':status'] ?? 0,
      header: (name) => {
        const value = headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      // Node ends the body of a reset stream as if it were complete: only the reset code shows it.
      body: readBody(stream, signal, () => {
        if ((stream.rstCode ?? NGHTTP2_NO_ERROR) !== NGHTTP2_NO_ERROR) throw this.#broken(stream, undefined);
      }),
      cancel: () => {
        if (stream.destroyed) return;
        stream.close(NGHTTP2_CANCEL);
        stream.destroy();
      },
    };
  }

  #broken(stream: ClientHttp2Stream, failure: unknown): BrokenConnection {
    const unsent = stream.id === undefined || stream.id > this.#lastProcessed || stream.rstCode === NGHTTP2_REFUSED_STREAM;
    const cause =
      this.#cause ?? failure ?? (stream.rstCode ? new Error(`the server reset the stream (code ${stream.rstCode})`) : undefined);
    return new BrokenConnection(unsent ? 'never' : 'perhaps', 'the connection ended before the answer did', cause);
  }

  #ping(timeoutMs: number, foundDead: () => void): void {
    if (this.#session.destroyed || this.#pinging) return;
    this.#pinging = true;
    const giveUp = setTimeout(() => {
      this.#cause ??= new Error(`the server answered no PING within ${timeoutMs} ms`);
      foundDead();
      this.destroy();
    }, timeoutMs);
    giveUp.unref();
    const answered = () => {
      this.#pinging = false;
      clearTimeout(giveUp);
    };
    this.#session.once('close', answered);
    try {
      this.#session.ping((error) => {
        if (error !== null) return; // the session's own end follows
        answered();
        this.#session.off('close', answered);
      });
    } catch {
      answered(); // the session ended since the check above
    }
  }
}

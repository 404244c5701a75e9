import { unlessAborted } from '../../base/waiting.ts';
import { ActionError, errorCode } from '../../base/errors.ts';
import { BrokenConnection, type Connection, DialError, ProxyError, type WireRequest, type WireResponse } from './connection.ts';
import { Http2Connection, type PingOptions } from './http2-connection.ts';
import { openSocket } from './open-socket.ts';
import { DeadlineError } from './limits.ts';
import { ApiError, type Call, TransportError, type TransportProblem } from './errors.ts';
import type { Millis } from '../../base/clock.ts';
import type { Credentials, Endpoint, Identity } from './credentials.ts';
import type { RestMetrics } from './requests.ts';

/** A request without the headers of the identity. `path` starts after the server's own path. */
export type TransportRequest = Omit<WireRequest, 'headers'> & { headers: Record<string, string> };

/** An answer, and the endpoint of its connection. */
export type TransportResponse = WireResponse & { endpoint: Endpoint };

/** The client was closed. */
export class ClosedError extends Error {
  override name = 'ClosedError';
}

// A server in the middle of a restart may reject a request on every connection, so the number of tries is limited.
const MAX_SENDS = 3;

/**
 * Sends requests over one shared connection, opened on first use and again after it ends. A request that certainly never reached the server is sent again on
 * a new connection; so is a GET without an answer, once. Nothing else is retried, and retries do not wait: backoff is left to the caller.
 */
export class Transport {
  readonly #credentials: Credentials;
  readonly #options: DialOptions;
  /** Aborts dialling when the transport closes. */
  readonly #closing = new AbortController();
  /** Connections that may still hold a socket: the current one and those that drain. */
  readonly #open = new Set<Connection>();
  #current: { endpoint: Endpoint; connection: Connection } | undefined;
  #dialling: { endpoint: Endpoint; promise: Promise<Connection> } | undefined;

  constructor(credentials: Credentials, options: DialOptions) {
    this.#credentials = credentials;
    this.#options = options;
  }

  /**
   * Returns status and headers, whatever the status. After a 401 the credentials are read again, and if they changed the request is sent once more.
   * @throws {BrokenConnection} {DialError} {ClosedError} {ActionError} (unusable credentials), or the reason of the request's signal
   */
  async request(request: TransportRequest): Promise<TransportResponse> {
    const identity = this.#credentials.fresh ?? (await this.#identity(false, request.signal));
    const answer = await this.#send(request, identity);
    if (answer.status !== 401) return answer;
    const fresh = await this.#identity(true, request.signal);
    if (fresh.endpoint === identity.endpoint && fresh.headers['authorization'] === identity.headers['authorization']) return answer;
    answer.cancel();
    return this.#send(request, fresh);
  }

  /** An exec program may hang: the request's deadline covers it too, and the error must not blame the server. */
  async #identity(force: boolean, signal: AbortSignal): Promise<Identity> {
    try {
      return await unlessAborted(this.#credentials.identity(force), signal);
    } catch (cause) {
      if (!(cause instanceof DeadlineError)) throw cause;
      const message = `it was not sent, because the exec program or identity provider of the kubeconfig's user gave no credentials: ${cause.message}`;
      throw new DeadlineError(message, { neverSent: true, cause });
    }
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Closes every connection; pending requests fail. */
  close(): void {
    this.#closing.abort(new ClosedError('the client is closed'));
    for (const connection of this.#open) connection.destroy();
    this.#open.clear();
    this.#current = undefined;
  }

  async #send(request: TransportRequest, identity: Identity): Promise<TransportResponse> {
    const { server } = identity.endpoint;
    const wire = {
      ...request,
      headers: { ...request.headers, ...identity.headers },
      path: `${server.pathname.replace(/\/+$/, '')}${request.path}`,
    };
    for (let sends = 1; ; sends++) {
      const connection = await this.#connection(identity.endpoint, request.signal);
      try {
        return Object.assign(await connection.send(wire), { endpoint: identity.endpoint });
      } catch (error) {
        this.#closing.signal.throwIfAborted();
        if (!(error instanceof BrokenConnection) || sends >= MAX_SENDS) throw error;
        const again = error.reached === 'never' ? !isConnectFailure(error) : request.method === 'GET' && sends === 1;
        if (!again) throw error;
      }
    }
  }

  async #connection(endpoint: Endpoint, signal: AbortSignal): Promise<Connection> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    if (this.#current?.endpoint === endpoint && this.#current.connection.usable) return this.#current.connection;
    if (this.#dialling?.endpoint !== endpoint) {
      const dialling = { endpoint, promise: this.#dial(endpoint) };
      this.#dialling = dialling;
      const done = () => {
        if (this.#dialling === dialling) this.#dialling = undefined;
      };
      // The waiting requests get its failure; this chain only cleans up.
      void dialling.promise.catch(() => {}).finally(done);
    }
    return unlessAborted(this.#dialling.promise, signal);
  }

  async #dial(endpoint: Endpoint): Promise<Connection> {
    const connection = await (this.#options.dial ?? dial)(endpoint, this.#options, this.#closing.signal);
    if (this.isClosed) {
      connection.destroy();
      this.#closing.signal.throwIfAborted();
    }
    // The previous connection drains: its requests finish, new requests use this one.
    this.#current?.connection.retire();
    this.#current = { endpoint, connection };
    this.#open.add(connection);
    for (const old of this.#open) if (old !== connection && old.isOver) this.#open.delete(old);
    return connection;
  }
}

/** HTTP/1.1 connects while it sends: a failure to connect is the server's state, and an immediate retry does not help. */
function isConnectFailure(error: BrokenConnection): boolean {
  const { cause } = error;
  if (cause instanceof DialError) return true;
  return cause instanceof Error && 'syscall' in cause && (cause.syscall === 'connect' || cause.syscall === 'getaddrinfo');
}

export interface DialOptions {
  /** Longest wait for TCP, proxy and TLS together, in ms. */
  connectTimeoutMs: Millis;
  ping: PingOptions;
  /** @default {@link dial} */
  dial?: Dial;
  metrics?: Pick<RestMetrics, 'dialled' | 'foundDead'>;
}

/** Makes a connection. @throws {DialError} with what failed as its cause, or the signal's reason */
export type Dial = (endpoint: Endpoint, options: DialOptions, signal: AbortSignal) => Promise<Connection>;

/**
 * Connects, and speaks HTTP/2 where the server does, else HTTP/1.1 (`http://` always).
 * @throws {DialError} with the socket's error as its cause, or the signal's reason
 */
export async function dial(endpoint: Endpoint, options: DialOptions, signal: AbortSignal): Promise<Connection> {
  const { server, tls } = endpoint;
  const { connectTimeoutMs, ping, metrics } = options;
  const { host } = server;
  const http1 = { connectTimeoutMs, ping, foundDead: () => metrics?.foundDead({ host }) };
  if (tls === undefined) return (await import('./http1-connection.ts')).Http1Connection.open(endpoint, http1);
  const secure = { ...endpoint, tls };
  try {
    const socket = await openSocket(secure, ['h2', 'http/1.1'], connectTimeoutMs, signal);
    const result = socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1';
    metrics?.dialled({ host, result });
    if (result === 'h2') return new Http2Connection(server, socket, ping, http1.foundDead);
    socket.destroy();
  } catch (error) {
    metrics?.dialled({ host, result: 'error' });
    throw error;
  }
  // Loaded on demand: most agents never need it.
  const { Http1Connection } = await import('./http1-connection.ts');
  return Http1Connection.open(endpoint, http1, (over) => openSocket(secure, ['http/1.1'], connectTimeoutMs, over));
}

/**
 * The error of a failed call: complete errors stay as they are, lower-level errors become a TransportError with a hint.
 * @param signal - the caller's; once aborted, its reason is returned
 */
export function transportErrorFrom(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ApiError || error instanceof TransportError || error instanceof ActionError) return error;
  if (error instanceof ClosedError) return new TransportError(call, 'closed', { hint: 'the client was closed', cause: error });
  if (error instanceof DeadlineError) {
    return new TransportError(call, 'timeout', {
      hint: error.neverSent ? error.message : `${error.message}; the server is overloaded, or packets are lost on the way`,
      cause: error,
    });
  }
  const { problem, hint } = explain(error);
  return new TransportError(call, problem, { hint, cause: error });
}

/** By the first system or TLS error code in the chain of causes. */
function explain(error: unknown): { problem: TransportProblem; hint: string } {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ProxyError) return { problem: 'unreachable', hint: `${at.message}; check proxy-url and the proxy variables` };
    const code = errorCode(at) ?? firstCodeOf(at);
    if (code === undefined) continue;
    // In this case name and authority are right.
    if (code === 'CERT_NOT_YET_VALID' || code === 'CERT_HAS_EXPIRED')
      return {
        problem: 'tls',
        hint: `its certificate is not trusted (${code}); check the clock of this machine, then the certificate of the server`,
      };
    if (isTrustProblem(code))
      return { problem: 'tls', hint: `its certificate is not trusted (${code}); check certificate-authority and the server's name` };
    if (/CERTIFICATE_REQUIRED|ALERT_(BAD|UNKNOWN|UNSUPPORTED)_C|ALERT_CERTIFICATE/.test(code)) {
      return { problem: 'tls', hint: `it rejected the client certificate (${code}); renew it` };
    }
    if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code === 'EPROTO') {
      return { problem: 'tls', hint: `TLS failed (${code}); is this port really an HTTPS one?` };
    }
    if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_|EADDRNOTAVAIL|EACCES|EPERM)/.test(code)) {
      return { problem: 'unreachable', hint: `cannot connect (${code}); check the server's address, and that it runs` };
    }
    if (/^(ECONNRESET|EPIPE|ERR_HTTP2|HPE_|ERR_STREAM_PREMATURE_CLOSE)/.test(code)) break;
  }
  if (error instanceof BrokenConnection)
    return { problem: 'cut', hint: `${error.message}; the server closed the connection, or is not an API server` };
  return { problem: 'unreachable', hint: "cannot connect; check the server's address, and that it runs" };
}

/** A host with several addresses fails with one error per address. */
function firstCodeOf(error: Error): string | undefined {
  return error instanceof AggregateError ? error.errors.map(errorCode).find((code) => code !== undefined) : undefined;
}

function isTrustProblem(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|ALTNAME_INVALID|INVALID_CA|CERT_UNTRUSTED/.test(code);
}

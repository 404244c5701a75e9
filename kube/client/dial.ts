import { tls as nodeTls } from './builtins.ts';
import { abortReason } from './connection.ts';
import { Http1Connection } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';
import { hostOf, portOf } from './server-address.ts';
import type { TLSSocket } from 'node:tls';
import type { Connection } from './connection.ts';
import type { Endpoint } from './credentials.ts';
import type { PingOptions } from './http2-connection.ts';

export interface DialOptions {
  /** Longest wait for TCP and TLS together, in ms. */
  connectTimeoutMs: number;
  ping: PingOptions;
  /** @default {@link dial} */
  dial?: Dial;
}

/** Makes a connection. @throws {DialError} with what failed as its cause, or the signal's reason */
export type Dial = (endpoint: Endpoint, options: DialOptions, signal: AbortSignal) => Promise<Connection>;

/** No connection came about: refused, no route, no trust, or no answer in time. */
export class DialError extends Error {
  override name = 'DialError';
}

/**
 * Connects, and speaks HTTP/2 where the server does, else HTTP/1.1 (`http://` always).
 * @throws {DialError} with the socket's error as its cause, or the signal's reason
 */
export async function dial(endpoint: Endpoint, options: DialOptions, signal: AbortSignal): Promise<Connection> {
  const { server, tls } = endpoint;
  if (tls === undefined) return Http1Connection.open(endpoint, options.connectTimeoutMs);
  const host = hostOf(server);
  const socket = nodeTls().connect({
    host,
    port: portOf(server),
    secureContext: tls.context,
    rejectUnauthorized: tls.verify,
    ALPNProtocols: ['h2', 'http/1.1'],
    // An address is no server name; Node then checks the certificate against `host`.
    ...serverNameOption(tls.serverName, host),
  });
  await secured(socket, options.connectTimeoutMs, signal);
  socket.setKeepAlive(true, 15_000);
  if (socket.alpnProtocol === 'h2') return new Http2Connection(server, socket, options.ping);
  socket.destroy();
  return Http1Connection.open(endpoint, options.connectTimeoutMs);
}

function serverNameOption(wanted: string | undefined, host: string): { servername?: string } {
  if (wanted !== undefined) return { servername: wanted };
  return /^[\d.]+$/.test(host) || host.includes(':') ? {} : { servername: host };
}

function secured(socket: TLSSocket, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.off('secureConnect', done).off('close', hungUp).off('error', failed);
      // From now on errors belong to whoever uses the socket; this keeps a late one from ending the process.
      socket.on('error', () => {});
      if (error === undefined) return resolve();
      socket.destroy();
      reject(error);
    };
    const done = () => finish();
    const abort = () => finish(abortReason(signal));
    const timer = setTimeout(() => finish(new DialError(`no connection within ${timeoutMs} ms`)), timeoutMs);
    socket.once('secureConnect', done);
    const hungUp = () => finish(new DialError('the server hung up during the TLS handshake'));
    const failed = (cause: Error) => finish(new DialError(cause.message, { cause }));
    socket.once('close', hungUp).once('error', failed);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

import { Http2Connection } from './http2-connection.ts';
import { openSocket } from './open-socket.ts';
import type { Millis } from '../../base/clock.ts';
import type { Connection } from './connection.ts';
import type { Endpoint } from './credentials.ts';
import type { PingOptions } from './http2-connection.ts';
import type { RestMetrics } from './rest-metrics.ts';

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
  // Loaded for the servers that need it: most agents never do.
  const { Http1Connection } = await import('./http1-connection.ts');
  return Http1Connection.open(endpoint, http1, (over) => openSocket(secure, ['http/1.1'], connectTimeoutMs, over));
}

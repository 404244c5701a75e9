import { tls as nodeTls } from './builtins.ts';
import { abortReason } from './connection.ts';
import { DialError } from './dial-error.ts';
import { hostOf, portOf } from './server-address.ts';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Millis } from '../../base/clock.ts';
import type { Endpoint } from './credentials.ts';

/** TCP probes start after this silence; the kernel gives up about ten seconds later. */
export const KEEP_ALIVE_MS = 15_000;

type SecureEndpoint = Endpoint & { tls: NonNullable<Endpoint['tls']> };

/**
 * A socket to an https:// server, through the proxy if there is one, with its certificate proved.
 * @param timeoutMs - for TCP, proxy and TLS together
 * @throws {DialError} with the socket's error as its cause, or the signal's reason
 */
export async function openSocket(
  { server, tls, proxy }: SecureEndpoint,
  protocols: readonly string[],
  timeoutMs: Millis,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = hostOf(server);
  const from = performance.now();
  let tunnel: Duplex | undefined;
  if (proxy !== undefined) {
    const { openTunnel } = await import('./proxy-tunnel.ts');
    tunnel = await openTunnel({ proxy, server, tls }, timeoutMs, signal);
  }
  const socket = nodeTls().connect({
    host,
    ...(tunnel === undefined ? { port: portOf(server) } : { socket: tunnel }),
    secureContext: tls.context,
    rejectUnauthorized: tls.verify,
    ALPNProtocols: [...protocols],
    // An address is no server name; Node then checks the certificate against `host`.
    ...serverNameOption(tls.serverName, host),
  });
  await secured(socket, Math.max(1, timeoutMs - (performance.now() - from)), signal);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
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

import type { Duplex } from 'node:stream';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';
import { monotonicMs, type Millis } from '../../base/clock.ts';
import { abortReason } from '../../base/waiting.ts';
import { http, https, net, tls as nodeTls } from './builtins.ts';
import { DialError, ProxyError } from './connection.ts';
import type { Endpoint } from './credentials.ts';
import { hostOf, portOf, proxyHeaders } from './proxy.ts';

/** TCP probes start after this silence; the kernel gives up about ten seconds later. */
export const KEEP_ALIVE_MS = 15_000;

type SecureEndpoint = Endpoint & { tls: NonNullable<Endpoint['tls']> };

/**
 * A socket to an https:// server, through the proxy if there is one, with the certificate verified.
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
  const from = monotonicMs();
  const tunnel = proxy === undefined ? undefined : await openTunnel({ proxy, server, tls }, timeoutMs, signal);
  const socket = nodeTls().connect({
    host,
    ...(tunnel === undefined ? { port: portOf(server) } : { socket: tunnel }),
    secureContext: tls.context,
    rejectUnauthorized: tls.verify,
    ALPNProtocols: [...protocols],
    ...serverNameOption(tls.serverName, host),
  });
  await secured(socket, Math.max(1, timeoutMs - (monotonicMs() - from)), signal);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
}

/** An IP address is not a server name (RFC 6066): none is sent then, and the certificate is checked against the address. */
function serverNameOption(wanted: string | undefined, host: string): Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> {
  const name = wanted ?? host;
  if (net().isIP(name) === 0) return { servername: name };
  return { checkServerIdentity: (_host, certificate) => nodeTls().checkServerIdentity(name, certificate) };
}

function secured(socket: TLSSocket, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.off('secureConnect', done).off('close', hungUp).off('error', failed);
      // From now on the user of the socket handles errors; this keeps a late one from ending the process.
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

interface Tunnel {
  proxy: URL;
  server: URL;
  /** For an https:// proxy: verified like the server, as in Go programs. */
  tls: { context: SecureContext; verify: boolean } | undefined;
}

/** Opens a tunnel through a proxy to the server (HTTP CONNECT). @throws {ProxyError}, or the signal's reason */
function openTunnel({ proxy, server, tls }: Tunnel, timeoutMs: Millis, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const host = hostOf(server);
    const target = `${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`;
    const refuse = (hint: string, cause?: unknown) => reject(signal.aborted ? abortReason(signal) : new ProxyError(proxy, hint, cause));
    const options = {
      method: 'CONNECT',
      host: hostOf(proxy),
      port: portOf(proxy),
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      signal,
    } as const;
    const asked =
      proxy.protocol === 'https:' && tls !== undefined
        ? https().request({ ...options, agent: new (https().Agent)({ secureContext: tls.context, rejectUnauthorized: tls.verify }) })
        : http().request({ ...options, agent: false });
    const timer = setTimeout(() => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    asked.once('close', () => clearTimeout(timer));
    asked.once('connect', (answer, socket, head) => {
      clearTimeout(timer);
      const status = answer.statusCode ?? 0;
      if (status === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      refuse(status === 407 ? 'it requires another user or password (407)' : `it refused to connect to ${target} (${status})`);
    });
    asked.on('error', (cause) => refuse(cause.message, cause));
    asked.end();
  });
}

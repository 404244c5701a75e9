import { http, https } from './builtins.ts';
import { abortReason } from './connection.ts';
import { ProxyError } from './dial-error.ts';
import { proxyHeaders } from './proxy.ts';
import { hostOf, portOf } from './server-address.ts';
import type { SecureContext } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { Millis } from '../../base/clock.ts';

export interface Tunnel {
  proxy: URL;
  server: URL;
  /** For an https:// proxy: trusted as the server is, as Go's programs do it. */
  tls: { context: SecureContext; verify: boolean } | undefined;
}

/** Asks a proxy for a way through to the server (HTTP CONNECT). @throws {ProxyError}, or the signal's reason */
export function openTunnel({ proxy, server, tls }: Tunnel, timeoutMs: Millis, signal: AbortSignal): Promise<Duplex> {
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
      refuse(status === 407 ? 'it wants another user or password (407)' : `it refused to connect to ${target} (${status})`);
    });
    asked.on('error', (cause) => refuse(cause.message, cause));
    asked.end();
  });
}

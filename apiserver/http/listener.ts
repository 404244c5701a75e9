import { createServer as createPlain } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { ActionError } from '../../base/errors.ts';
import type { KeyAndCertificate } from '../certificate.ts';

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

/** A port and every connection to it. */
export interface Listener {
  /** `127.0.0.1:PORT`. */
  address: string;
  /** Closes all connections at once, like a crash. */
  dropConnections(): void;
  /** Resets the connection from `port`, like a host that does not know the connection. */
  reset(port: number): void;
  /** Stops all traffic on the connection from `port`, which stays open: as if packets were dropped. */
  silence(port: number): void;
  /** Whether the connection from `port` is silenced: nothing may be written to it. */
  isSilent(port: number): boolean;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/**
 * Listens on `host:port` (port 0: any). HTTP/2 and HTTP/1.1 on one port with TLS, HTTP/1.1 without.
 * @throws ActionError if the address is not loopback, or the port is taken
 */
export async function listen(
  address: string,
  keys: KeyAndCertificate | undefined,
  handle: (request: Incoming, response: Outgoing) => void,
): Promise<Listener> {
  const { host, port } = loopback(address);
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const silent = new Set<number>();
  const server = keys === undefined ? createPlain(handle) : secure(keys, handle, sessions);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await listening(server, host, port, address);
  const bound = server.address();
  const dropConnections = (): void => {
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${typeof bound === 'object' && bound !== null ? bound.port : port}`,
    dropConnections,
    reset(port) {
      for (const socket of sockets) if (socket.remotePort === port) socket.resetAndDestroy();
    },
    silence(port) {
      for (const socket of sockets) {
        if (socket.remotePort !== port) continue;
        silent.add(port);
        socket.once('close', () => silent.delete(port));
        stopReading(socket);
      }
    },
    isSilent: (port) => silent.has(port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        dropConnections();
      }),
  };
}

const LAST_WRITES = 5;

/**
 * Stops reading permanently. Below TLS and HTTP/2, Node moves bytes between handles, without any public method, so the handle itself must stop; and
 * again after each write in flight, since its completion restarts reading.
 */
function stopReading(socket: Socket, turns = LAST_WRITES): void {
  const { _handle: handle } = socket as unknown as { _handle?: { readStop(): void } };
  handle?.readStop();
  if (turns > 0) setImmediate(() => stopReading(socket, turns - 1));
}

function secure(
  keys: KeyAndCertificate,
  handle: (request: Incoming, response: Outgoing) => void,
  sessions: Set<ServerHttp2Session>,
): Server {
  const options = { allowHTTP1: true, key: keys.keyPem, cert: keys.certificatePem, settings: { maxConcurrentStreams: 1000 } };
  const server = createSecureServer(options, handle);
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    // A client may disconnect at any time; without a listener the error would end the process.
    session.on('error', () => session.destroy());
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

function listening(server: Server, host: string, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => reject(new ActionError('listen on', address, { hint: 'is the port taken?', cause }));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

// Loopback only: the admin's token allows everything, and this server is for one machine.
function loopback(address: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65535) throw new ActionError('listen on', address, { hint: 'write it as 127.0.0.1:PORT' });
  const isLoopback = host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
  if (!isLoopback) throw new ActionError('listen on', address, { hint: 'the embedded API server serves loopback addresses only' });
  return { host: host === 'localhost' ? '127.0.0.1' : host, port: Number(port) };
}

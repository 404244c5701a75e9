import { createServer as createPlainServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { KeyPair } from '../../../support/certificates.ts';

/** Node's HTTP/2 server has the same face for what tests do with it. */
export type Request = IncomingMessage;
export type Response = ServerResponse;
export type Handler = (request: Request, response: Response) => void;

/** A server on loopback that answers what a test tells it to. `handler` may be replaced at any time. */
export interface StandIn extends AsyncDisposable {
  url: string;
  handler: Handler;
  /** Every connection that was ever made, in order. */
  sockets: Socket[];
  /** HTTP/2 sessions in order. */
  sessions: ServerHttp2Session[];
}

type Kind = 'h2' | 'https' | 'http';

export async function standIn(
  kind: Kind,
  handler: Handler,
  tls?: KeyPair & { ca?: string; requestCert?: boolean },
  host = '127.0.0.1',
): Promise<StandIn> {
  const sockets: Socket[] = [];
  const sessions: ServerHttp2Session[] = [];
  const answer = (request: Request, response: Response) => self.handler(request, response);
  const server =
    kind === 'http'
      ? createPlainServer(answer)
      : kind === 'https'
        ? createHttpsServer({ ...tls }, answer)
        : createSecureServer({ ...tls, rejectUnauthorized: false }, (request, response) =>
            answer(request as unknown as Request, response as unknown as Response),
          ).on('session', (session) => {
            sessions.push(session);
            session.on('error', () => {});
          });
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const self: StandIn = {
    url: `${kind === 'http' ? 'http' : 'https'}://${host}:${port}`,
    handler,
    sockets,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

export function json(response: Response, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function status(code: number, reason: string, message: string, details: object = {}): object {
  return { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code, reason, message, details };
}

export function node(
  name: string,
  rv: string,
  uid = 'u1',
): { apiVersion: string; kind: string; metadata: { name: string; uid: string; resourceVersion: string } } {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, resourceVersion: rv } };
}

export async function bodyOf(request: Request): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

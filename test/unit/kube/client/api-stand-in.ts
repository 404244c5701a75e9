import { createServer as createPlainServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import { after, before } from 'node:test';
import { createClient } from '../../../../kube/client/http-client.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { ClusterAccess } from '../../../../kube/client/access.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { ClientOptions } from '../../../../kube/client/http-client.ts';
import type { Authority, KeyPair } from '../../../support/certificates.ts';

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

export type Kind = 'h2' | 'https' | 'http';

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

export const node = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: 'u1', resourceVersion },
});

export async function bodyOf(request: Request): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** A certificate authority for the tests of a file, and servers and clients that trust it and end with their test. */
export class Trust {
  authority!: Authority;
  serverPair!: KeyPair;

  constructor() {
    before(async () => {
      this.authority = await makeAuthority();
      this.serverPair = await this.authority.server();
    });
    after(() => this.authority.remove());
  }

  /** How to reach a server of it. */
  access(server: Pick<StandIn, 'url'>, more: Partial<ClusterAccess> = {}): ClusterAccess {
    return { origin: 'test', server: server.url, ca: { data: this.authority.ca }, ...more };
  }

  async server(t: TestContext, kind: Kind, handler: Handler, tls: object = {}): Promise<StandIn> {
    const server = await standIn(kind, handler, { ...this.serverPair, ...tls });
    t.after(() => server[Symbol.asyncDispose]());
    return server;
  }

  async pair(
    t: TestContext,
    kind: Kind,
    handler: Handler,
    { access, ...options }: ClientOptions & { access?: Partial<ClusterAccess> } = {},
  ): Promise<{ server: StandIn; client: Client }> {
    const server = await this.server(t, kind, handler);
    return { server, client: clientOf(t, this.access(server, access), options) };
  }
}

/** A patient client that is closed with its test. */
export function clientOf(t: TestContext, access: Parameters<typeof createClient>[0], options: ClientOptions = {}): Client {
  const client = createClient(access, { timeoutMs: 60_000, ...options });
  t.after(() => client.close());
  return client;
}

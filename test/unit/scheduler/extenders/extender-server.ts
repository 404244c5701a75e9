import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { defaultExtender, type ExtenderConfig } from '../../../../scheduler/config/config.ts';

/** What an extender does with a call: a value is sent as JSON; nothing means that it sees to the answer itself. */
export type Behaviour = (asked: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => unknown;

/** An extender on loopback, whose calls do what a test says. */
export class ExtenderServer {
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: { path: string; body: Record<string, unknown> }[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: TestContext, verbs: Record<string, Behaviour>, tls?: ServerOptions): Promise<ExtenderServer> {
    const server: Server = tls === undefined ? createServer() : createSecureServer(tls);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const made = new ExtenderServer(`http${tls === undefined ? '' : 's'}://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void made.#answer(verbs, request, response));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return made;
  }

  async #answer(verbs: Record<string, Behaviour>, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = (await json(request)) as Record<string, unknown>;
    this.requests.push({ path, body });
    const answer = await verbs[path.slice(1)]?.(body, response, request);
    if (answer === undefined) return;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  }
}

/** One that keeps nodes in a cache of its own, is waited for on any machine, and else as one that is asked nothing. */
export function extenderConfig(urlPrefix: string, more: Partial<ExtenderConfig> = {}): ExtenderConfig {
  return { ...defaultExtender, urlPrefix, nodeCacheCapable: true, httpTimeoutMs: 60_000, ...more };
}

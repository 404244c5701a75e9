import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Something at the address of an API server, which answers as the test says: with what the embedded server, which validates, never would. */
export class ScriptedServer {
  answer: Answer;
  requests = 0;
  readonly #server;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.#server = createServer((request, response) => {
      this.requests += 1;
      this.answer(request, response);
    });
  }

  static async start(answer: Answer): Promise<ScriptedServer> {
    const made = new ScriptedServer(answer);
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get kubeconfig(): string {
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user: { token: 'secret-token' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export const json = (response: ServerResponse, value: unknown, code = 200): void => {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** Objects of a server that looks at nothing: one Node, one ConfigMap, and the status that was sent last. */
export interface Unchecked {
  configSource: unknown;
  configMap: unknown;
  /** Node.status.config as the agent wrote it. */
  config?: unknown;
  onReport: () => void;
}

/** Serves them with lists, watches that stay silent, and status patches (members that are null go). */
export function unchecked(objects: Unchecked): Answer {
  const node = () => ({
    kind: 'Node',
    metadata: { name: 'node-1', uid: 'n', resourceVersion: '1' },
    spec: { configSource: objects.configSource },
    status: { config: objects.config },
  });
  return (request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (request.method === 'POST') return json(response, { kind: 'Event', metadata: {} }, 201);
    if (request.method === 'PATCH') {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const { status } = JSON.parse(body) as { status: { config: object } };
        const all = Object.entries({ ...(objects.config as object | undefined), ...status.config });
        objects.config = Object.fromEntries(all.filter(([, value]) => value !== null));
        json(response, node());
        objects.onReport();
      });
      return undefined;
    }
    if (url.searchParams.has('watch')) {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      return undefined;
    }
    if (url.pathname.includes('/configmaps')) {
      const items = objects.configMap === undefined ? [] : [objects.configMap];
      return json(response, { kind: 'ConfigMapList', metadata: { resourceVersion: '1' }, items });
    }
    return json(response, { kind: 'NodeList', metadata: { resourceVersion: '1' }, items: [node()] });
  };
}

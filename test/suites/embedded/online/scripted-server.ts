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

import { aborted, abortReason } from '../base/waiting.ts';
import { BrokenConnection, type Connection, type WireRequest, type WireResponse } from '../kube/client/connection.ts';
import { type Answer, encode, textOf } from './http/message.ts';
import { halfOf } from './faults/plan.ts';
import { type Reply, replyTo, type Server } from './http/reply.ts';

/** The server side of direct connections, like a listener for sockets. */
export class DirectLine {
  readonly #server: Server;
  readonly #connections = new Set<DirectConnection>();
  #isUp = true;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Opens a connection without sockets, with the same requests, responses and faults. @throws {BrokenConnection} while the server is unreachable */
  async dial(): Promise<Connection> {
    if (!this.#isUp) throw new BrokenConnection('never', 'there is no server');
    const connection = new DirectConnection(this.#server, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    return connection;
  }

  /** Closes every connection abruptly. */
  drop(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Whether the server is reachable. Setting it to unreachable closes every connection. */
  set up(isUp: boolean) {
    this.#isUp = isUp;
    if (!isUp) this.drop();
  }
}

class DirectConnection implements Connection {
  readonly #server: Server;
  readonly #onOver: () => void;
  readonly #pending = new Set<AbortController>();
  #isRetired = false;
  /** Of a half-open connection, over which nothing else comes. */
  #isSilent = false;

  constructor(server: Server, onOver: () => void) {
    this.#server = server;
    this.#onOver = onOver;
  }

  get usable(): boolean {
    return !this.#isRetired;
  }

  get isOver(): boolean {
    return this.#isRetired && this.#pending.size === 0;
  }

  async send(request: WireRequest): Promise<WireResponse> {
    const { signal, body, headers } = request;
    if (signal.aborted) throw abortReason(signal);
    if (this.#isRetired) throw broken('never');
    const over = new AbortController();
    this.#pending.add(over);
    const stop = () => over.abort(abortReason(signal));
    signal.addEventListener('abort', stop, { once: true });
    const finish = () => {
      signal.removeEventListener('abort', stop);
      this.#pending.delete(over);
      if (this.isOver) this.#onOver();
    };
    try {
      const reply = await replyTo(this.#server, {
        method: request.method,
        url: request.path,
        header: (name) => String(headers[name] ?? ''),
        body: () => (typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array())),
        signal: over.signal,
      });
      if (reply.as === 'reset') this.destroy();
      if (reply.as === 'half-open') this.#isSilent = true;
      if (this.#isSilent) await aborted(over.signal);
      over.signal.throwIfAborted();
      if (!('answer' in reply)) throw broken('perhaps');
      const answered = reply.answer;
      return {
        status: answered.code,
        header: (name) => headerOf(answered, reply.yaml, name),
        body: this.#readBody(reply, over.signal, finish),
        cancel: () => {
          over.abort(ended);
          finish();
        },
      };
    } catch (error) {
      over.abort(ended);
      finish();
      if (signal.aborted) throw abortReason(signal);
      throw error;
    }
  }

  retire(): void {
    this.#isRetired = true;
    if (this.#pending.size === 0) this.#onOver();
  }

  destroy(): void {
    this.#isRetired = true;
    for (const over of this.#pending) over.abort(broken('perhaps'));
    this.#pending.clear();
    this.#onOver();
  }

  async *#readBody(reply: Extract<Reply, { answer: Answer }>, signal: AbortSignal, finish: () => void): AsyncGenerator<Uint8Array, void> {
    try {
      signal.throwIfAborted();
      if (reply.as !== 'whole') {
        yield (await halfOf(reply.answer)).bytes;
        if (reply.as === 'half') throw broken('perhaps');
        return;
      }
      if (!('stream' in reply.answer)) {
        yield bytesOf(reply.answer, reply.yaml);
        return;
      }
      for await (const batch of reply.answer.stream) {
        if (this.#isSilent) await aborted(signal);
        signal.throwIfAborted();
        yield Buffer.from(textOf(batch));
      }
      if (this.#isSilent) await aborted(signal);
      signal.throwIfAborted();
    } finally {
      finish();
    }
  }
}

// Shared: aborting without a reason creates an exception with a stack each time, a fifth of the CPU time of a simulation.
const ended = new Error('the exchange is over');

function bytesOf(answer: Exclude<Answer, { stream: unknown }>, yaml: boolean): Uint8Array {
  const content = 'json' in answer ? encode(answer.json, yaml)[1] : answer.bytes;
  return typeof content === 'string' ? Buffer.from(content) : content;
}

function headerOf(answer: Answer, yaml: boolean, name: string): string | undefined {
  if (name === 'content-type') return 'json' in answer ? (yaml ? 'application/yaml' : 'application/json') : answer.type;
  return 'headers' in answer ? answer.headers?.[name] : undefined;
}

function broken(reached: 'never' | 'perhaps'): BrokenConnection {
  return new BrokenConnection(reached, 'the connection ended before the answer did');
}

import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';

export interface ApiAddress {
  url: string;
  /** PEM; '' without TLS. */
  ca: string;
  token: string;
}

/** JSON as it came, for tests to look into. */
export type Loose = { [field: string]: Loose };

/** A text, number or boolean of an answer as text; '' for nothing. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

export interface HttpAnswer {
  code: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** The body as JSON. @throws when it is none */
  json: Loose;
}

export interface CallOptions {
  body?: unknown;
  raw?: string | Uint8Array;
  type?: string;
  accept?: string;
  token?: string;
}

export type WatchLine = { type: string; object: Loose };

export interface OpenWatch {
  code: number;
  /** The next event; undefined at the end. Waits. */
  next(): Promise<WatchLine | undefined>;
  rest(): Promise<WatchLine[]>;
  close(): void;
}

const types: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' };

/** Plain HTTP/1.1 calls, a connection each, with nothing of our own client in between. */
export class ApiHttp {
  readonly address: ApiAddress;
  constructor(address: ApiAddress) {
    this.address = address;
  }

  as(token: string): ApiHttp {
    return new ApiHttp({ ...this.address, token });
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<HttpAnswer> {
    const response = await this.#send(method, path, options);
    let text = '';
    for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) text += part;
    mustBeWhole(response);
    const { statusCode: code = 0, headers } = response;
    return { code, headers, text, get json() { return JSON.parse(text); } }; // prettier-ignore
  }

  get = (path: string, options?: CallOptions): Promise<HttpAnswer> => this.call('GET', path, options);
  post = (path: string, body: unknown, options?: CallOptions): Promise<HttpAnswer> => this.call('POST', path, { body, ...options });
  put = (path: string, body: unknown, options?: CallOptions): Promise<HttpAnswer> => this.call('PUT', path, { body, ...options });
  patch = (path: string, body: unknown, options?: CallOptions): Promise<HttpAnswer> => this.call('PATCH', path, { body, ...options });
  delete = (path: string, body?: unknown, options?: CallOptions): Promise<HttpAnswer> => this.call('DELETE', path, { body, ...options });

  async watch(path: string, options: CallOptions = {}): Promise<OpenWatch> {
    const response = await this.#send('GET', path, options);
    const lines = eventsOf(response);
    const next = async (): Promise<WatchLine | undefined> => {
      const { value, done } = await lines.next();
      return done === true ? undefined : value;
    };
    return {
      code: response.statusCode ?? 0,
      next,
      async rest() {
        const all: WatchLine[] = [];
        for (let event = await next(); event !== undefined; event = await next()) all.push(event);
        return all;
      },
      close: () => response.destroy(),
    };
  }

  async #send(method: string, path: string, { body, raw, type, accept, token }: CallOptions): Promise<IncomingMessage> {
    const url = new URL(this.address.url);
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const contentType = type ?? types[method] ?? 'application/json';
    const headers = {
      authorization: `Bearer ${token ?? this.address.token}`,
      ...(accept !== undefined && { accept }),
      ...(content !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(content) }),
    };
    // Not through URL, which would tidy up the path.
    const options = { method, headers, agent: false, hostname: url.hostname, port: url.port, path };
    const request = url.protocol === 'https:' ? tlsRequest({ ...options, ca: this.address.ca }) : plainRequest(options);
    request.end(content);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<WatchLine, undefined> {
  let rest = '';
  for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
  mustBeWhole(response);
  return undefined;
}

// A response that is cut off before anybody listens ends like a good one.
function mustBeWhole(response: IncomingMessage): void {
  if (!response.complete) throw new Error('the answer was cut off');
}

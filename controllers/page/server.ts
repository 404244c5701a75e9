import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { rfc3339, type Clock, type Millis } from '../../base/clock.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { http } from '../../kube/client/builtins.ts';
import { listenOn, urlOf, type BindAddress } from '../../kube/serving/serve.ts';
import type { PageMetrics, PageNodeDetail } from './contract.ts';
import { type FleetPicture, jsonInTurns, pausing, upToDate } from './fleet-model.ts';
import { decide, pageHeaders, type PageRoute } from './request.ts';
import type { Client, FleetStream } from './stream.ts';

export interface PageServerOptions {
  at: BindAddress;
  /** Returns the current token that readers must send; undefined: none. */
  token: (() => Promise<string>) | undefined;
  /** Files of the page by name. */
  assets: ReadonlyMap<string, string>;
  picture: FleetPicture;
  stream: FleetStream;
  /** Undefined: the node does not exist. */
  detail: (node: string) => Promise<PageNodeDetail | undefined>;
  metrics: PageMetrics;
  clock: Clock;
  log: Log;
}

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 100;
const SLOWEST_REQUEST: Millis = 10_000;
const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const json = 'application/json; charset=utf-8';
const compressed = promisify(gzip);

/**
 * Serves the page, its data and its event stream. Reads only the method, the path and a few headers of a request.
 * @throws {ActionError} when the server cannot listen on the address
 */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { at, log, stream } = options;
  const server = http().createServer(
    { maxHeaderSize: 16 * 1024, requestTimeout: SLOWEST_REQUEST, headersTimeout: SLOWEST_REQUEST },
    (request, response) => {
      response.once('close', () => options.metrics.answered(response.statusCode));
      respond(request, response, options).catch((error: unknown) => {
        log.warn('failed to answer page request', { error: describeError(error) });
        if (response.headersSent) response.destroy();
        else plain(response, 500, 'internal error; see the log\n');
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  const onError = (error: Error): void => log.warn('fleet page server error', { address: urlOf(at), error: describeError(error) });
  const url = await listenOn(server, at, onError).catch((cause: unknown) => {
    const hint = 'choose another --page-bind-address, or an empty one to switch it off';
    throw new ActionError('serve the fleet page on', urlOf(at), { hint, cause });
  });
  return {
    url,
    async close() {
      stream.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, options: PageServerOptions): Promise<void> {
  const { method = '', url = '', headers } = request;
  const { assets, token } = options;
  const asked = { method, url, host: headers.host, authorization: headers.authorization, site: header(headers['sec-fetch-site']) };
  const rules = { token: await token?.(), assets: new Set(assets.keys()) };
  const decision = decide(asked, rules);
  if (!decision.ok) return plain(response, decision.status, decision.text, { ...decision.headers, connection: 'close' });
  await answer(decision.route, request, response, options);
}

async function answer(
  route: PageRoute,
  request: IncomingMessage,
  response: ServerResponse,
  { assets, picture, stream, detail, metrics, clock }: PageServerOptions,
): Promise<void> {
  const send = (what: Body): Promise<void> => sendBody(request, response, what, metrics);
  switch (route.to) {
    case 'asset': {
      const type = types[route.name.replace(/^.*\./, '')] ?? 'text/plain';
      return send({ type, bytes: Buffer.from(assets.get(route.name) ?? ''), cache: 'no-cache' });
    }
    case 'fleet':
      await upToDate(picture, clock);
      return send({ type: json, bytes: await pausing(jsonInTurns(picture.model.fleet(rfc3339(clock.now())), { after: '\n' }), clock) });
    case 'node': {
      const found = await detail(route.name);
      if (found === undefined) return plain(response, 404, 'node not found\n');
      return send({ type: json, bytes: Buffer.from(`${JSON.stringify(found)}\n`) });
    }
    case 'events':
      return openStream(request, response, { stream, metrics });
  }
}

function openStream(
  request: IncomingMessage,
  response: ServerResponse,
  { stream, metrics }: Pick<PageServerOptions, 'stream' | 'metrics'>,
): void {
  const full = (): void =>
    plain(response, 503, 'the maximum number of open fleet pages is reached; try again later\n', { 'retry-after': '10' });
  const isCompressed = takesGzip(request);
  const headers = {
    ...pageHeaders,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Without this header nginx would buffer events.
    'x-accel-buffering': 'no',
    ...(isCompressed ? { 'content-encoding': 'gzip', vary: 'accept-encoding' } : {}),
  };
  if (request.method === 'HEAD') {
    // The page sends HEAD to find out why it has no stream.
    if (stream.isFull) return full();
    response.writeHead(200, headers).end();
    return;
  }
  // The headers go out with the first event: until then the answer can still be 503.
  let isOpen = false;
  const open = (): void => {
    if (!isOpen) response.writeHead(200, headers);
    isOpen = true;
  };
  const end = stream.add(isCompressed ? compressedClient(response, open, metrics) : plainClient(response, open, metrics));
  if (end === undefined) return full();
  response.once('close', end);
}

function plainClient(response: ServerResponse, open: () => void, metrics: PageMetrics): Client {
  return {
    async send(bytes) {
      open();
      metrics.sent(bytes.length);
      await new Promise<void>((resolve, reject) => response.write(bytes, (error) => (error ? reject(error) : resolve())));
    },
    close: () => response.destroy(),
  };
}

/** One compression context for the whole stream: a change mostly repeats text of the picture. */
function compressedClient(response: ServerResponse, open: () => void, metrics: PageMetrics): Client {
  const zip = createGzip({ level: 5 });
  zip.on('error', () => response.destroy());
  const drained = (): Promise<void> =>
    response.writableNeedDrain ? new Promise((resolve) => response.once('drain', resolve)) : Promise.resolve();
  zip.on('data', (bytes: Uint8Array) => {
    metrics.sent(bytes.length);
    if (!response.write(bytes)) {
      zip.pause();
      response.once('drain', () => zip.resume());
    }
  });
  return {
    async send(bytes) {
      open();
      await new Promise<void>((resolve, reject) => zip.write(bytes, (error) => (error ? reject(error) : resolve())));
      await new Promise<void>((resolve) => zip.flush(constants.Z_SYNC_FLUSH, resolve));
      await drained();
    },
    close() {
      zip.destroy();
      response.destroy();
    },
  };
}

interface Body {
  /** Content-Type. */
  type: string;
  bytes: Uint8Array;
  /** @default no-store */
  cache?: string;
}

async function sendBody(
  request: IncomingMessage,
  response: ServerResponse,
  { type, bytes: written, cache = 'no-store' }: Body,
  metrics: Pick<PageMetrics, 'sent'>,
): Promise<void> {
  const isCompressed = takesGzip(request) && written.length > 1_000;
  const bytes = isCompressed ? await compressed(written) : written;
  response.writeHead(200, {
    ...pageHeaders,
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': cache,
    vary: 'accept-encoding',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  });
  if (request.method === 'HEAD') return void response.end();
  metrics.sent(bytes.length);
  response.end(bytes);
}

function plain(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, {
    ...pageHeaders,
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

const header = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

const takesGzip = ({ headers }: IncomingMessage): boolean => /(^|,)\s*gzip\s*(,|$|;\s*q=(?!0(\.0*)?\s*(,|$)))/.test(header(headers['accept-encoding']) ?? ''); // prettier-ignore

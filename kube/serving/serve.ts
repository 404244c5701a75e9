import { type AddressInfo, isIPv4, isIPv6 } from 'node:net';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { ActionError, describeError } from '../../base/errors.ts';
import { http } from '../client/builtins.ts';
import { type Check, Checks } from './checks.ts';
import { debugAnswer, type Dump, Profiler } from './debug.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

export interface ServingOptions {
  /** `HOST:PORT`, port 0 for a free one; '' serves nothing. */
  address: string;
  registry: Pick<Registry, 'metrics' | 'contentType'>;
  /** Fail when only a restart helps: served as `/healthz` and `/livez`. */
  health?: readonly Check[];
  /** Fail while the process cannot work. */
  ready?: readonly Check[];
  /** Profiles and dumps under `/debug`. Only on loopback: they show internal state. @default false */
  debug?: boolean;
  /** What `/debug/NAME` shows as JSON: caches, queues. */
  dumps?: Readonly<Record<string, Dump>>;
  clock: Clock;
  log: Log;
}

export interface Serving {
  /** `http://HOST:PORT`; undefined when nothing is served. */
  url: string | undefined;
  /** Closes every connection. May be called twice. */
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  type?: string;
  text: string;
  headers?: Readonly<Record<string, string>>;
}

const MAX_CONNECTIONS = 100;
const SLOWEST_REQUEST: Millis = 10_000;
const plain = 'text/plain; charset=utf-8';

/**
 * Serves `/metrics`, `/healthz`, `/livez`, `/readyz` and, if enabled, `/debug`. Reads nothing of a request but its path and query.
 * @throws {ActionError} when the address cannot be bound, or debugging would be open to other machines
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const at = parseBindAddress(options.address);
  if (at === undefined) return { url: undefined, close: () => Promise.resolve() };
  if (options.debug === true && !isLoopback(at.host)) {
    throw new ActionError('serve /debug on', options.address, {
      hint: '/debug shows internal state to anyone who can connect; bind to 127.0.0.1, or remove --debug',
    });
  }
  const answer = router(options);
  const closing = new AbortController();
  const server = http().createServer(
    { maxHeaderSize: 8 * 1024, requestTimeout: SLOWEST_REQUEST, headersTimeout: SLOWEST_REQUEST },
    (request, response) => {
      respond(request, response, { answer, closing: closing.signal }).catch((error: unknown) => {
        options.log.warn('failed to answer request', { path: pathOf(request), error: describeError(error) });
        if (response.headersSent) response.destroy();
        else send(response, { status: 500, text: 'internal error; see the log\n' }, request.method);
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  const onError = (error: Error): void =>
    options.log.warn('metrics server error', { address: options.address, error: describeError(error) });
  const url = await listenOn(server, at, onError).catch((cause: unknown) => {
    const hint = 'choose another --metrics-bind-address, or an empty one to switch it off';
    throw new ActionError('serve metrics on', options.address, { hint, cause });
  });
  return {
    url,
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error('the server closes'));
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * @param onError - called with each later error of the server that differs from the last one, such as a connection that cannot be accepted without a free
 * file descriptor: the server goes on, and an error without a listener would end the process
 * @returns the URL @throws the system's error when the server cannot listen
 */
export async function listenOn(server: Server, { host, port }: BindAddress, onError: (error: Error) => void): Promise<string> {
  let last: string | undefined;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host === '' ? undefined : host, () => {
      server.off('error', reject);
      server.on('error', (error) => {
        if (error.message !== last) onError(error);
        last = error.message;
      });
      resolve();
    });
  });
  return urlOf({ host: host === '' ? '127.0.0.1' : host, port: (server.address() as AddressInfo).port });
}

type Route = (url: URL, signal: AbortSignal) => Promise<Answer>;

function router({ registry, health = [], ready = [], debug = false, dumps = {}, clock, log }: ServingOptions): Route {
  const checks = {
    healthz: new Checks('healthz', health, log),
    livez: new Checks('livez', health, log),
    readyz: new Checks('readyz', ready, log),
  };
  const profiler = new Profiler(clock);
  return async ({ pathname, searchParams }, signal) => {
    if (pathname === '/metrics') return { status: 200, type: registry.contentType, text: await registry.metrics() };
    const [, endpoint, name] = /^\/(healthz|livez|readyz)(?:\/([^/]+))?\/?$/.exec(pathname) ?? [];
    if (endpoint !== undefined) {
      const verdict = checks[endpoint as keyof typeof checks].judge(searchParams, name);
      if (verdict !== undefined)
        return { status: verdict.ok ? 200 : 500, text: verdict.text, headers: { 'cache-control': 'no-cache, private' } };
    }
    if (debug && pathname.startsWith('/debug/')) return debugAnswer(pathname, searchParams, { profiler, dumps, signal });
    return { status: 404, text: `not found; the paths are /metrics, /healthz, /livez and /readyz${debug ? ', and /debug/' : ''}\n` };
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, closing }: { answer: Route; closing: AbortSignal },
): Promise<void> {
  const { method, url = '/' } = request;
  if (method !== 'GET' && method !== 'HEAD')
    return send(response, { status: 405, text: 'only GET is supported\n', headers: { allow: 'GET, HEAD', connection: 'close' } }, method);
  // A body has no meaning here, so it is rejected without reading it.
  if (request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0') {
    return send(response, { status: 413, text: 'a request body is not supported\n', headers: { connection: 'close' } }, method);
  }
  const parsed = URL.parse(url, 'http://localhost');
  if (!url.startsWith('/') || parsed === null)
    return send(response, { status: 400, text: 'the request has no valid path\n', headers: { connection: 'close' } }, method);
  const gone = new AbortController();
  const end = (): void => gone.abort(closing.reason ?? new Error('the client went away'));
  closing.addEventListener('abort', end, { once: true });
  response.once('close', end);
  try {
    const found = await answer(parsed, gone.signal);
    if (!response.destroyed) send(response, found, method);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    closing.removeEventListener('abort', end);
  }
}

function send(response: ServerResponse, { status, type = plain, text, headers = {} }: Answer, method: string | undefined): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(method === 'HEAD' ? undefined : text);
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0]?.slice(0, 200) ?? '';

export interface BindAddress {
  /** '' listens on all addresses. */
  host: string;
  port: number;
}

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT` or `:PORT`. @returns undefined for '': off
 * @throws {ActionError} naming the flag
 */
export function parseBindAddress(text: string, flag = '--metrics-bind-address'): BindAddress | undefined {
  if (text === '') return undefined;
  const [, six, other = '', digits] = /^(?:\[([^\]]+)\]|([^:[\]/\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (six !== undefined && !isIPv6(six))) {
    throw new ActionError('use', `${flag} ${JSON.stringify(text)}`, {
      hint: 'give HOST:PORT, such as 127.0.0.1:0, or an empty one to switch it off',
    });
  }
  return { host: six ?? other, port };
}

/** Whether only this machine can reach `host`. Names other than `localhost` do not count. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && /^(0*:)+0*1$/.test(host));
}

/** `http://HOST:PORT`, for people and scrapers on this machine. */
export function urlOf({ host, port }: BindAddress): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

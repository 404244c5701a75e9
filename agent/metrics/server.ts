import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';
import { ownerOfPort } from '../config/preflight/server.ts';
import { backoff } from '../../base/waiting.ts';
import type { Clock } from '../../base/clock.ts';
import { ActionError, describeError, errorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { http } from '../../kube/client/builtins.ts';

/** Most connections at the same time. The agent may open 1,024 files in all, and every process of the node may connect. */
export const MAX_CONNECTIONS = 32;
/** Time until a request must be complete, in ms: an idle client cannot hold a connection longer. */
const REQUEST_TIMEOUT_MS = 10_000;
const RETRY = { base: 1_000, cap: 30_000 };

export interface MetricsServerDeps {
  /** HOST:PORT. */
  address: string;
  metrics: Pick<Metrics, 'text'>;
  clock: Clock;
  random: Random;
  log: Log;
  /** Called at every change: null when the metrics are served, else why not. */
  onState: (problem: string | null) => void;
  /** Called with the port each time the server listens: for tests, which let the system choose it. */
  onPort?: (port: number) => void;
}

/**
 * Serves `/metrics` and `/healthz` until the signal aborts. Retries an address that is in use: on a control-plane node the other program may release
 * it soon. Never ends the agent.
 */
export async function keepMetricsServed(deps: MetricsServerDeps, signal: AbortSignal): Promise<void> {
  const { address, clock, random, log, onState, onPort } = deps;
  let reported: string | undefined;
  for (let failures = 0; !signal.aborted;) {
    try {
      const { port, lost } = await listen(address, deps.metrics, signal);
      if (reported !== undefined) log.info('metrics are served', { address });
      onState(null);
      onPort?.(port);
      [failures, reported] = [0, undefined];
      const error = await lost;
      if (error === undefined) return;
      throw error;
    } catch (error) {
      const forGood = error instanceof ActionError;
      const problem = forGood ? error.message : `metrics are not served on ${address}: ${reason(error)}; the agent keeps trying`;
      if (problem !== reported) log.error(forGood ? 'metrics are not served' : 'metrics are not served, retrying', { address, error });
      reported = problem;
      onState(problem);
      if (forGood) return;
      failures += 1;
      await clock.sleep(backoff(failures, RETRY, random), signal).catch(() => {});
    }
  }
}

const reason = (error: unknown): string => (errorCode(error) === 'EADDRINUSE' ? 'another program listens there' : describeError(error));

interface Listening {
  port: number;
  /** Resolves when the server has ended: with the error, or undefined when the signal aborted. */
  lost: Promise<Error | undefined>;
}

/** @throws ActionError for an address that no retry can make usable; else the system's error */
async function listen(address: string, metrics: Pick<Metrics, 'text'>, signal: AbortSignal): Promise<Listening> {
  const at = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(address);
  const hint = 'choose another --metrics-bind-address, or an empty one to switch it off';
  if (!at || Number(at[3]) > 65_535) throw new ActionError('serve metrics on', address, { hint: `it is not HOST:PORT; ${hint}` });
  const owner = ownerOfPort(Number(at[3]));
  if (owner !== undefined) throw new ActionError('serve metrics on', address, { hint: `its port belongs to ${owner}; ${hint}` });

  let answer: Promise<string> | undefined;
  // Concurrent scrapes share one answer, since each reads the whole journal.
  const text = (): Promise<string> => {
    answer ??= metrics.text().finally(() => (answer = undefined));
    return answer;
  };
  const server = http().createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return void response.end('ok');
    if (path !== '/metrics') return void response.writeHead(404).end('not found; use /metrics or /healthz\n');
    text().then(
      (body) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body),
      () => response.writeHead(500).end(),
    );
    return undefined;
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(at[3]), at[1] ?? at[2] ?? '', () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.unref();
  const lost = new Promise<Error | undefined>((resolve) => {
    const end = (error?: Error): void => {
      signal.removeEventListener('abort', stop);
      server.close();
      server.closeAllConnections();
      resolve(error);
    };
    const stop = (): void => end();
    server.on('error', end);
    if (signal.aborted) end();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return { port: (server.address() as AddressInfo).port, lost };
}

import type { TestContext } from 'node:test';
import type { LocalApi } from '../../../../apiserver/local-api.ts';
import { realClock } from '../../../../base/clock.ts';
import { seededRandom } from '../../../../base/random.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { holderOf } from '../../../../kube/election/lease.ts';
import type { Lease } from '../../../../kube/election/lease.ts';
import type { ProcessOptions } from '../../../../kube/process/contract.ts';
import { runProcess } from '../../../../kube/process/process.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { RealTime } from '../../../support/real-time.ts';
import { localApi } from '../../../support/embedded-api.ts';
import { eventually } from '../../../support/eventually.ts';

/** Looked at often, and held through any stall of a busy machine: nobody here waits for one to run out. */
const quickLease = { namespace: 'kube-system', name: 'keys', retryPeriodMs: 20, renewDeadlineMs: 20_000, leaseDurationMs: 30_000 };

const stops = new WeakMap<LocalApi, (() => Promise<number>)[]>();

/** An API whose processes end with the test, however it goes. */
export function newApi(t: TestContext): LocalApi {
  const api = localApi(realClock);
  stops.set(api, []);
  t.after(() => Promise.allSettled((stops.get(api) ?? []).map((stop) => stop())));
  return api;
}

type Options = Pick<ProcessOptions, 'setup'> & Partial<Omit<ProcessOptions, 'onReady' | 'access'>>;

/**
 * @returns `ready`: its address once it is ready, '' when it serves nothing, undefined when it ended without ever being ready; `open`: how many of its
 * connections are open; `stop`, as SIGTERM does
 */
export function start(api: LocalApi, identity: string, options: Options) {
  const asked = new AbortController();
  const clock = new RealTime();
  const { log, lines } = recordedLog();
  const ready = Promise.withResolvers<string | undefined>();
  let open = 0;
  const ended = runProcess(
    {
      name: 'test-controllers',
      access: { server: 'http://local', origin: 'test', token: api.token },
      leaderElect: quickLease,
      metricsAddress: '127.0.0.1:0',
      ...options,
      onReady: ({ metrics = '' }) => ready.resolve(metrics),
    },
    {
      clock,
      random: seededRandom(1),
      log,
      signal: asked.signal,
      identity: () => identity,
      createClient: (access, given) => {
        const client = createClient(access, { ...given, dial: api.dial });
        open += 1;
        const close = client.close.bind(client);
        client.close = async () => {
          await close();
          open -= 1;
        };
        return client;
      },
    },
  );
  void ended.then(
    () => ready.resolve(undefined),
    () => ready.resolve(undefined),
  );
  const stop = (): Promise<number> => {
    asked.abort(new Error('SIGTERM'));
    return ended;
  };
  stops.get(api)?.push(stop);
  return { ready: ready.promise, ended, stop, clock, lines, open: () => open };
}

export function leaseOf(api: LocalApi): Lease | undefined {
  return api.hooks.storage.get('coordination.k8s.io/leases', 'kube-system/keys');
}

/** '' when nobody holds the lease. */
export function holder(api: LocalApi): string | undefined {
  const lease = leaseOf(api);
  return lease === undefined ? undefined : holderOf(lease);
}

/** The text at `url` once it says what is looked for. */
export const text = (url: string, until = /(?:)/): Promise<string> =>
  eventually(`${url} says ${String(until)}`, async () => {
    const found = await (await fetch(url, { headers: { connection: 'close' } })).text();
    return until.test(found) ? found : undefined;
  });

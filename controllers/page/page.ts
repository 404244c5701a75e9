import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { aborted } from '../../base/waiting.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type Informer, memoize } from '../../kube/cache/contract.ts';
import type { Meters, Runnable, Runtime } from '../../kube/process/contract.ts';
import type { BindAddress } from '../../kube/serving/serve.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { cachesOf, type RolloutOptions } from '../rollout/observe.ts';
import { rulesOf } from '../rollout/rules.ts';
import { NodeDetails } from './node-detail.ts';
import { NodeEvents } from './node-events.ts';
import type { PageMetrics, PageNodeDetail } from './contract.ts';
import { FleetPicture, upToDate } from './fleet-model.ts';
import { type PageServer, startPageServer } from './server.ts';
import { FleetStream } from './stream.ts';

export interface PageOptions extends Pick<RolloutOptions, 'configMapNamespace'> {
  at: BindAddress;
  /** Reads the token that readers must send; absent: no token, which is only for a loopback address. */
  token?: () => Promise<string>;
  /** Files of the page by name. */
  assets: ReadonlyMap<string, string>;
  serves: ServerFacts;
  /** Called once the page is served. */
  onServed?: (url: string) => void;
}

/** Time until an address in use, perhaps by the former leader, is tried again. */
const RETRY_MS: Millis = 5_000;

/** Serves the fleet page from the caches of the rollout controller. It writes nothing. */
export function fleetPage(runtime: Runtime, options: PageOptions): Runnable {
  const { clock, log, client, meters } = runtime;
  const { configMapNamespace, serves, onServed, assets, at, token } = options;
  const caches = cachesOf(runtime, configMapNamespace === undefined ? {} : { configMapNamespace });
  const rules = memoize(rulesOf);
  const picture = new FleetPicture({ caches, serves, rules });
  const metrics: PageMetrics = pageMetrics(meters, () => stream.size);
  const stream = new FleetStream({ picture, clock, metrics });
  const details = new NodeDetails(caches.configMaps);
  const events = new NodeEvents(client, clock);
  const detail = async (name: string): Promise<PageNodeDetail | undefined> => {
    await upToDate(picture, clock);
    if (picture.nodeDetailInput(name) === undefined) return undefined;
    const history = await events.of(name);
    await upToDate(picture, clock);
    const input = picture.nodeDetailInput(name);
    return input && details.of(input, history);
  };
  const follow = <T extends KubeObject>(of: Informer<T>, note: (object: Readonly<T>) => void): void => {
    const changed = (object: Readonly<T>): void => {
      note(object);
      stream.changed();
    };
    of.addHandlers('page', { added: changed, updated: (_, after) => changed(after), deleted: changed });
  };
  follow(caches.nodes, (node) => picture.nodeChanged(node));
  follow(caches.nodeConfigs, (config) => picture.nodeChanged(config));
  follow(caches.rollouts, () => picture.rolloutChanged());
  return {
    name: 'page',
    async run(signal) {
      const start = (): Promise<PageServer> => startPageServer({ at, token, assets, picture, stream, detail, metrics, clock, log });
      const server = await untilServed(start, { clock, log, signal });
      if (server === undefined) return;
      log.info('serving fleet page', { url: server.url, token: token !== undefined });
      onServed?.(server.url);
      await aborted(signal);
      await server.close();
    },
  };
}

/** Retries, so that a page that cannot be served does not stop the rollouts. */
async function untilServed(
  start: () => Promise<PageServer>,
  { clock, log, signal }: Pick<Runtime, 'log'> & { clock: Clock; signal: AbortSignal },
): Promise<PageServer | undefined> {
  while (!signal.aborted) {
    try {
      return await start();
    } catch (error) {
      log.error('failed to serve fleet page, retrying', { error: describeError(error), afterMs: RETRY_MS });
      await clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }
  return undefined;
}

/** @param streams - number of open event streams, called at each scrape */
export function pageMetrics(meters: Pick<Meters, 'counter' | 'gauge'>, streams: () => number): PageMetrics {
  meters.gauge('dkc_page_streams', 'Number of event streams of the fleet page that are open', streams);
  const answered = meters.counter('dkc_page_requests_total', 'Number of requests to the fleet page, by status code', ['code']);
  const sent = meters.counter('dkc_page_sent_bytes_total', 'Bytes of response bodies that the fleet page has sent, after compression');
  const dropped = meters.counter(
    'dkc_page_dropped_clients_total',
    'Number of event streams of the fleet page that were ended, because the client was too slow or its connection failed, or rejected, because the maximum was open, by reason',
    ['reason'],
  );
  return {
    answered: (code) => answered({ code }),
    sent: (bytes) => sent({}, bytes),
    dropped: (reason) => dropped({ reason }),
  };
}

export const noPageMetrics: PageMetrics = { answered: () => {}, sent: () => {}, dropped: () => {} };

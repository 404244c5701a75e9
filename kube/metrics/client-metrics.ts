import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ReflectorMetrics } from '../cache/failure-log.ts';
import type { InformerOptions } from '../cache/shared-informer.ts';
import type { RestMetrics } from '../client/requests.ts';

/** From 5 ms to a minute, as in client-go. */
const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** `rest_client_*` as Kubernetes' own components name them, and metrics of connections under our own names. */
export function restMetrics(registry: Registry): RestMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host'] as const,
    registers,
  });
  const duration = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and host.',
    labelNames: ['verb', 'host'] as const,
    buckets: REQUEST_SECONDS,
    registers,
  });
  const retries = new Counter({
    name: 'rest_client_request_retries_total',
    help: 'Number of request retries, partitioned by status code, verb, and host.',
    labelNames: ['code', 'verb', 'host'] as const,
    registers,
  });
  const waits = new Histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    labelNames: ['verb', 'host'] as const,
    buckets: REQUEST_SECONDS,
    registers,
  });
  const dials = new Counter({
    name: 'dkc_rest_client_dials_total',
    help: 'Number of connections dialed, partitioned by protocol or error, and host.',
    labelNames: ['result', 'host'] as const,
    registers,
  });
  const dead = new Counter({
    name: 'dkc_rest_client_dead_connections_total',
    help: 'Number of connections given up because nothing answered on them, partitioned by host.',
    labelNames: ['host'] as const,
    registers,
  });
  return {
    answered: (labels) => requests.inc(labels),
    took: ({ seconds, ...labels }) => duration.observe(labels, seconds),
    retried: (labels) => retries.inc(labels),
    waited: ({ seconds, ...labels }) => waits.observe(labels, seconds),
    dialled: (labels) => dials.inc(labels),
    foundDead: (labels) => dead.inc(labels),
  };
}

const SHORT_WATCH_MS = 1_000;
/** For lists, and for watches, which last for minutes. */
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900];
const COUNTS = [1, 10, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000];

/**
 * The `reflector_*` metrics under the names that client-go gave them; durations and sizes are histograms, so that they can be summed over processes.
 * One per registry: the caches of a process differ in the label `name`.
 */
export function reflectorMetrics(registry: Registry): (name: string) => ReflectorMetrics {
  const base = { labelNames: ['name'] as const, registers: [registry] };
  const counter = (name: string, help: string): Counter<'name'> => new Counter({ ...base, name, help });
  const histogram = (name: string, help: string, buckets: number[]): Histogram<'name'> => new Histogram({ ...base, name, help, buckets });
  const lists = counter('reflector_lists_total', 'Total number of API lists done by the reflectors');
  const listSeconds = histogram(
    'reflector_list_duration_seconds',
    'How long an API list takes to return and decode for the reflectors',
    SECONDS,
  );
  const listItems = histogram('reflector_items_per_list', 'How many items an API list returns to the reflectors', COUNTS);
  const watches = counter('reflector_watches_total', 'Total number of API watches done by the reflectors');
  const shortWatches = counter('reflector_short_watches_total', 'Total number of short API watches done by the reflectors');
  const watchSeconds = histogram(
    'reflector_watch_duration_seconds',
    'How long an API watch takes to return and decode for the reflectors',
    SECONDS,
  );
  const watchItems = histogram('reflector_items_per_watch', 'How many items an API watch returns to the reflectors', COUNTS);
  const failures = counter('reflector_failures_total', 'Total number of API lists and watches of the reflectors that failed');
  const version = new Gauge({ ...base, name: 'reflector_last_resource_version', help: 'Last resource version seen for the reflectors' });
  return (name) => {
    const label = { name };
    return {
      listed(items, tookMs) {
        lists.inc(label);
        listSeconds.observe(label, tookMs / 1_000);
        listItems.observe(label, items);
      },
      watched(events, lastedMs) {
        watches.inc(label);
        if (lastedMs < SHORT_WATCH_MS) shortWatches.inc(label);
        watchSeconds.observe(label, lastedMs / 1_000);
        watchItems.observe(label, events);
      },
      reached(seen) {
        // Versions are opaque; only numeric ones are exported.
        if (/^\d+$/.test(seen)) version.set(label, Number(seen));
      },
      failed: () => failures.inc(label),
    };
  };
}

/** Errors of handlers, such as writes to cached objects. client-go panics on them and has no metric for it, so these names are ours. */
export function informerMetrics(registry: Registry): Required<Pick<InformerOptions, 'onHandlerFailure' | 'onIndexFailure'>> {
  const registers = [registry];
  const handlers = new Counter({
    name: 'dkc_informer_handler_failures_total',
    help: 'Number of errors that handlers of cache events threw, by the component that registered the handler.',
    labelNames: ['handler'] as const,
    registers,
  });
  const indexes = new Counter({
    name: 'dkc_informer_index_failures_total',
    help: 'Number of objects that an index function failed on, which the index does not find.',
    labelNames: ['index'] as const,
    registers,
  });
  return { onHandlerFailure: (handler) => handlers.inc({ handler }), onIndexFailure: (index) => indexes.inc({ index }) };
}

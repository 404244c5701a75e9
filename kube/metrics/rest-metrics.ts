import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { RestMetrics } from '../client/requests.ts';

/** From 5 ms to a minute, as client-go has them. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** `rest_client_*` as Kubernetes' own components name them, and what happens to connections under names of ours. */
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
    buckets: SECONDS,
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
    buckets: SECONDS,
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

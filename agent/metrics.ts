import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiPath, type MaybeSource } from './checkpoint/source.ts';
import type { Picture } from './situation.ts';
import { journalEvents, type JournalEvent } from './store/store.ts';
import { ActionError } from '../base/errors.ts';

/** What the agent counts. Everything is cheap and never throws. */
export interface Metrics {
  picture: (picture: Picture) => void;
  transition: (event: JournalEvent) => void;
  sync: (failed: boolean) => void;
  trialHealthy: (seconds: number) => void;
  /** Text in Prometheus' format. */
  text: () => Promise<string>;
}

/** Upstream's label set (spec 12). */
const sourceLabels = ['node_config_source', 'node_config_uid', 'node_config_resource_version', 'node_config_kubelet_key'] as const;

function labelsOf(source: MaybeSource): Record<(typeof sourceLabels)[number], string> {
  return {
    node_config_source: source === null ? 'local' : apiPath(source),
    node_config_uid: source?.uid ?? '',
    node_config_resource_version: source?.resourceVersion ?? '',
    node_config_kubelet_key: source?.kubeletConfigKey ?? '',
  };
}

/** Upstream's four gauges under their own names and help, and ours for transitions. */
export async function openMetrics(): Promise<Metrics> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: [...sourceLabels], registers });
  const assigned = gauge('kubelet_node_config_assigned', "The node's understanding of intended config. The count is always 1.");
  const active = gauge('kubelet_node_config_active', 'The config source the node is actively using. The count is always 1.');
  const trusted = gauge(
    'kubelet_node_config_last_known_good',
    'The config source the node will fall back to when it encounters certain errors. The count is always 1.',
  );
  const error = new Gauge({
    name: 'kubelet_node_config_error',
    help: 'This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.',
    registers,
  });
  const transitions = new Counter({
    name: 'dkc_agent_transitions_total',
    help: 'Changes of this node since the agent started, by kind, as the journal names them.',
    labelNames: ['event'],
    registers,
  });
  for (const event of journalEvents) transitions.inc({ event }, 0);
  const syncs = new Counter({
    name: 'dkc_agent_sync_runs_total',
    help: 'Looks at Node and ConfigMap since the agent started, by result.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['ok', 'failed']) syncs.inc({ result }, 0);
  const healthy = new Gauge({
    name: 'dkc_agent_trial_healthy_seconds',
    help: 'Health of the kubelet in the running trial so far; 0 without a trial.',
    registers,
  });
  return {
    picture: (picture) => {
      for (const [gauge, source] of [
        [assigned, picture.assigned],
        [active, picture.active],
        [trusted, picture.lastKnownGood],
      ] as const) {
        gauge.reset(); // one series a gauge: the old label set goes before the new one comes
        gauge.set(labelsOf(source), 1);
      }
      error.set(picture.error === null ? 0 : 1);
    },
    transition: (event) => transitions.inc({ event }),
    sync: (failed) => syncs.inc({ result: failed ? 'failed' : 'ok' }),
    trialHealthy: (seconds) => healthy.set(seconds),
    text: () => registry.metrics(),
  };
}

export const noMetrics: Metrics = { picture() {}, transition() {}, sync() {}, trialHealthy() {}, text: () => Promise.resolve('') };

/**
 * Serves `/metrics` and `/healthz` until the signal aborts.
 * @returns the port it listens on
 * @throws ActionError when the address cannot be had
 */
export async function serveMetrics(address: string, metrics: Metrics, signal: AbortSignal): Promise<number> {
  const at = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(address);
  if (!at)
    throw new ActionError('serve metrics on', address, {
      hint: 'give HOST:PORT in --metrics-bind-address, or an empty one to switch it off',
    });
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return void response.end('ok');
    if (path !== '/metrics') return void response.writeHead(404).end('there are /metrics and /healthz\n');
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(500).end(),
    );
    return undefined;
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new ActionError('serve metrics on', address, {
          hint: 'choose another --metrics-bind-address, or an empty one to switch it off',
          cause,
        }),
      );
    });
    server.listen(Number(at[3]), at[1] ?? at[2] ?? '', resolve);
  });
  server.unref();
  signal.addEventListener('abort', () => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

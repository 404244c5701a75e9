import { apiPath, type MaybeSource } from '../checkpoint/source.ts';
import { DRIFT_KINDS } from '../drift/plan.ts';
import type { ConfigStatus } from '../status/node-config-state.ts';
import { journalEvents, type JournalLine } from '../store/store.ts';

/** The agent's metrics. The setters are cheap and never throw. */
export interface Metrics {
  picture: (picture: ConfigStatus) => void;
  sync: (failed: boolean) => void;
  trialHealthy: (seconds: number) => void;
  /** Whether the kubelet is healthy under a config that is not on trial. */
  kubelet: (isWell: boolean) => void;
  /** Text in Prometheus' format. */
  text: () => Promise<string>;
}

/** The labels of upstream's metrics. */
const sourceLabels = ['node_config_source', 'node_config_uid', 'node_config_resource_version', 'node_config_kubelet_key'] as const;

function labelsOf(source: MaybeSource): Record<(typeof sourceLabels)[number], string> {
  return {
    node_config_source: source === null ? 'local' : apiPath(source),
    node_config_uid: source?.uid ?? '',
    node_config_resource_version: source?.resourceVersion ?? '',
    node_config_kubelet_key: source?.kubeletConfigKey ?? '',
  };
}

/** The values as plain numbers: prom-client costs more memory than the rest of the agent, so it is loaded at the first scrape. */
interface Counts {
  picture: ConfigStatus | undefined;
  syncs: { ok: number; failed: number };
  trialHealthySeconds: number;
  kubeletIsWell: boolean;
}

/**
 * Starts counting; loads nothing.
 * @param journal - read at each scrape: most transitions end the agent, so a count in memory would be lost before a scrape
 */
export function openMetrics(journal: () => Promise<readonly Pick<JournalLine, 'event'>[]>): Metrics {
  const counts: Counts = {
    picture: undefined,
    syncs: { ok: 0, failed: 0 },
    trialHealthySeconds: 0,
    kubeletIsWell: true,
  };
  return {
    picture: (picture) => void (counts.picture = picture),
    sync: (failed) => void counts.syncs[failed ? 'failed' : 'ok']++,
    trialHealthy: (seconds) => void (counts.trialHealthySeconds = seconds),
    kubelet: (isWell) => void (counts.kubeletIsWell = isWell),
    text: async () => print(counts, await journal()),
  };
}

/** Upstream's four gauges under their own names and help, and ours for transitions. */
async function print(
  { picture, syncs, trialHealthySeconds, kubeletIsWell }: Counts,
  journal: readonly Pick<JournalLine, 'event'>[],
): Promise<string> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registers = [new Registry()];
  const gauge = (name: string, help: string, source: MaybeSource | undefined): void => {
    const made = new Gauge({ name, help, labelNames: [...sourceLabels], registers });
    if (source !== undefined) made.set(labelsOf(source), 1);
  };
  gauge('kubelet_node_config_assigned', "The node's understanding of intended config. The count is always 1.", picture?.assigned);
  gauge('kubelet_node_config_active', 'The config source the node is actively using. The count is always 1.', picture?.active);
  gauge(
    'kubelet_node_config_last_known_good',
    'The config source the node will fall back to when it encounters certain errors. The count is always 1.',
    picture?.lastKnownGood,
  );
  new Gauge({
    name: 'kubelet_node_config_error',
    help: 'This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.',
    registers,
  }).set((picture?.error ?? null) === null ? 0 : 1);
  // Not a counter: the journal drops its oldest lines, and a counter that decreases would read as a restart.
  const changes = new Gauge({
    name: 'dkc_agent_transitions',
    help: 'Changes of this node by kind, as far back as its journal goes (1,000 lines).',
    labelNames: ['event'],
    registers,
  });
  for (const event of journalEvents) changes.set({ event }, journal.filter((line) => line.event === event).length);
  const runs = new Counter({
    name: 'dkc_agent_sync_runs_total',
    help: 'Syncs of Node and ConfigMap since the agent started, by result.',
    labelNames: ['result'],
    registers,
  });
  for (const [result, count] of Object.entries(syncs)) runs.inc({ result }, count);
  new Gauge({
    name: 'dkc_agent_trial_healthy_seconds',
    help: 'Seconds for which the kubelet was healthy in the running trial; 0 without a trial.',
    registers,
  }).set(trialHealthySeconds);
  new Gauge({
    name: 'dkc_agent_kubelet_unhealthy',
    help: 'This metric is true (1) while the kubelet is unhealthy under a config that is trusted or local, false (0) otherwise.',
    registers,
  }).set(kubeletIsWell ? 0 : 1);
  const drift = new Gauge({
    name: 'dkc_agent_drift',
    help: 'This metric is true (1) while the kubelet does not run the configuration that its agent wrote, false (0) otherwise, by kind.',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of DRIFT_KINDS) drift.set({ kind }, picture?.drift?.some((one) => one.kind === kind) === true ? 1 : 0);
  return Promise.resolve(registers[0]?.metrics() ?? '');
}

export const noMetrics: Metrics = { picture() {}, sync() {}, trialHealthy() {}, kubelet() {}, text: () => Promise.resolve('') };

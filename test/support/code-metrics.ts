import { openMetrics } from '../../agent/metrics/metrics.ts';
import { pageMetrics } from '../../controllers/page/page.ts';
import { clusterMetrics } from '../../controllers/rollout/cluster/cluster.ts';
import { rolloutMetrics } from '../../controllers/rollout/status.ts';
import { unavailabilityGauges } from '../../controllers/statefulset/controller.ts';
import { allMetrics } from '../../kube/metrics/all-metrics.ts';
import { schedulerMetrics } from '../../scheduler/core/reporting.ts';
import { placeholderMeters } from '../../scheduler/placeholder/placeholders.ts';
import { reservationMeters } from '../../scheduler/reservation/reporting.ts';

export type Metric = { name: string; type: string; help: string; labels: string[]; of: string };

/** Every metric that the code has, made by the code itself. */
export async function codeMetrics(): Promise<Metric[]> {
  const { registry, meters } = allMetrics();
  const seen = new Map<string, Metric>();
  const note = async (of: string): Promise<void> => {
    for (const metric of await registry.getMetricsAsJSON()) {
      const { labelNames = [] } = registry.getSingleMetric(metric.name) as unknown as { labelNames?: string[] };
      if (!seen.has(metric.name))
        seen.set(metric.name, { name: metric.name, type: String(metric.type), help: metric.help, labels: [...labelNames], of });
    }
  };
  await note('every process in the cluster');
  for (const kind of ['daemonset', 'statefulset', 'rollout']) {
    meters.ownWrites(`${kind}_controller`);
    if (kind === 'statefulset') unavailabilityGauges(meters);
    await note(`${kind} controller`);
  }
  clusterMetrics(meters, () => ({ most: 0, unavailable: 0 }));
  rolloutMetrics(meters, () => []);
  await note('rollout controller');
  pageMetrics(meters, () => 0);
  await note('fleet page');
  const parts = { queue: { sizes: { active: 0 }, inFlight: 0 }, cluster: { nodeCount: 0, podCount: 0 } };
  schedulerMetrics(meters, parts as unknown as Parameters<typeof schedulerMetrics>[1]);
  reservationMeters(meters, { size: 0 });
  placeholderMeters(meters);
  await note('scheduler');
  for (const metric of await agentMetrics()) seen.set(metric.name, metric);
  return [...seen.values()];
}

/** What an agent prints, with the labels that it prints. */
async function agentMetrics(): Promise<Metric[]> {
  const source = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '1', kubeletConfigKey: 'kubelet' };
  const metrics = openMetrics(() => Promise.resolve([]));
  metrics.picture({ assigned: source, active: source, lastKnownGood: source, error: null });
  const text = await metrics.text();
  const found = text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n(\w+)(?:\{(.*)\})? /gm);
  const labelsOf = (labels: string) => [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
  return Array.from(found, ([, name = '', help = '', type = '', , labels = '']) => ({ name, type, help, labels: labelsOf(labels), of: 'agent' })); // prettier-ignore
}

/** What a query asks for. @returns each metric with the labels that the query names for it; those of `by` are of all of them */
export function asked(expr: string): { metric: string; labels: string[] }[] {
  const grouped = [...expr.matchAll(/\b(?:by|on|without) \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/, */));
  const rest = expr.replaceAll(/\b(?:by|on|without) \([^)]*\)/g, '');
  return [...rest.matchAll(/\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+|up)\b(?!\()(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...[...matchers.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label), ...grouped],
  }));
}

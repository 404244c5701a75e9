import type { Meters } from '../../../kube/process/runtime.ts';
import type { ClusterFacts } from './contract.ts';

/** @param last - as the last look found it */
export function clusterMetrics(meters: Pick<Meters, 'gauge'>, last: () => Pick<ClusterFacts, 'most' | 'unavailable'>): void {
  const where = 'with --rollout-max-unavailable';
  meters.gauge(
    'rollout_controller_cluster_max_unavailable',
    `Number of nodes of the cluster that may be unavailable at once, ${where}`,
    () => last().most,
  );
  meters.gauge(
    'rollout_controller_cluster_unavailable',
    `Number of nodes of the cluster that are unavailable or about to be, as a rollout was looked at last, ${where}`,
    () => last().unavailable,
  );
}

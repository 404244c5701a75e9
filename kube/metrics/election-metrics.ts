import { Counter, Gauge, type Registry } from 'prom-client';
import type { ElectionMetrics } from '../election/election-metrics.ts';

const labelNames = ['name'] as const;
const grouping = "'name' is the string used to identify the lease. Please make sure to group by name.";

/** Under the names that Kubernetes' own components have. */
export function electionMetrics(registry: Registry): ElectionMetrics {
  const registers = [registry];
  const status = new Gauge({
    name: 'leader_election_master_status',
    help: `Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. ${grouping}`,
    labelNames,
    registers,
  });
  const slowPath = new Counter({
    name: 'leader_election_slowpath_total',
    help: `Total number of slow path exercised in renewing leader leases. ${grouping}`,
    labelNames,
    registers,
  });
  return {
    leading: (name, isLeading) => status.set({ name }, isLeading ? 1 : 0),
    slowRenewal: (name) => slowPath.inc({ name }),
  };
}

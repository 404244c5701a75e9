import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ReflectorMetrics } from '../cache/failure-log.ts';
import type { RestMetrics } from '../client/requests.ts';
import type { EventMetrics } from '../controller/event-recorder.ts';
import type { ElectionMetrics } from '../election/election.ts';
import type { Labels, Meters } from '../process/contract.ts';
import type { QueueMetrics } from '../queue/work-queue.ts';
import { processMetrics } from './process-metrics.ts';
import { eventMetrics, ownWritesMetrics, queueMetrics } from './controller-metrics.ts';
import { informerMetrics, reflectorMetrics, restMetrics } from './client-metrics.ts';

export interface AllMetrics {
  registry: Registry;
  queue: QueueMetrics;
  reflector: (name: string) => ReflectorMetrics;
  rest: RestMetrics;
  election: ElectionMetrics;
  events: EventMetrics;
  informer: ReturnType<typeof informerMetrics>;
  meters: Meters;
}

/** Everything that a process of controllers counts, in one registry. */
export function allMetrics(): AllMetrics {
  const registry = new Registry();
  processMetrics(registry);
  return {
    registry,
    queue: queueMetrics(registry),
    reflector: reflectorMetrics(registry),
    rest: restMetrics(registry),
    election: electionMetrics(registry),
    events: eventMetrics(registry),
    informer: informerMetrics(registry),
    meters: meters(registry),
  };
}

function meters(registry: Registry): Meters {
  const registers = [registry];
  return {
    ownWrites: (subsystem) => ownWritesMetrics(registry, subsystem),
    counter(name, help, labelNames = []) {
      const made = new Counter({ name, help, labelNames, registers });
      return (labels: Labels = {}, by = 1) => made.inc(labels, by);
    },
    gauge(name, help, read) {
      const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
    },
    gauges(name, help, labelName, read) {
      const made: Gauge = new Gauge({
        name,
        help,
        labelNames: [labelName],
        registers,
        collect: () => {
          // Values that are there no longer go: labels may be named by users.
          made.reset();
          for (const [value, count] of Object.entries(read())) made.set({ [labelName]: value }, count);
        },
      });
    },
    histogram(name, help, { labelNames = [], buckets }) {
      const made = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
      return (value, labels: Labels = {}) => made.observe(labels, value);
    },
  };
}

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

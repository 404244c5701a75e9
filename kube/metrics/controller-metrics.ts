import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EventMetrics } from '../controller/event-recorder.ts';
import type { ElectionMetrics } from '../election/election.ts';
import type { OwnWritesMetrics } from '../controller/own-writes.ts';
import type { QueueGauges, QueueMetrics } from '../queue/work-queue.ts';

// From 10 ns to 10 s, each ten times the one before. Computed by multiplication as in Kubernetes, so that the bucket 9.999999999999999e-6 is the same.
const buckets: number[] = [];
for (let bound = 10e-9; buckets.length < 10; bound *= 10) buckets.push(bound);

/**
 * The `workqueue_*` metrics under the names, labels, help and buckets of Kubernetes' own components. Gauges are read at each scrape, so no timer runs in
 * between. One per registry: all queues of a process share the names and differ in the label.
 */
export function queueMetrics(registry: Registry): QueueMetrics {
  const queues = new Map<string, QueueGauges>();
  const base = { labelNames: ['name'] as const, registers: [registry] };
  const gauge = (name: string, help: string, read: (queue: QueueGauges) => number): Gauge<'name'> =>
    new Gauge({
      ...base,
      name,
      help,
      collect() {
        for (const [queue, gauges] of queues) this.set({ name: queue }, read(gauges));
      },
    });

  gauge('workqueue_depth', 'Current depth of workqueue', (queue) => queue.depth());
  gauge(
    'workqueue_unfinished_work_seconds',
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    (queue) => seconds([...queue.running()].reduce((sum, ms) => sum + ms, 0)),
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    (queue) => seconds([...queue.running()].reduce((longest, ms) => Math.max(longest, ms), 0)),
  );
  const adds = new Counter({ ...base, name: 'workqueue_adds_total', help: 'Total number of adds handled by workqueue' });
  const retries = new Counter({ ...base, name: 'workqueue_retries_total', help: 'Total number of retries handled by workqueue' });
  const waited = new Histogram({
    ...base,
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested.',
    buckets,
  });
  const worked = new Histogram({
    ...base,
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    buckets,
  });

  return {
    open(name, gauges) {
      queues.set(name, gauges);
      for (const counter of [adds, retries]) counter.inc({ name }, 0);
      for (const histogram of [waited, worked]) histogram.zero({ name });
      const [added, retried, takenAfter, finishedAfter] = [
        adds.labels({ name }),
        retries.labels({ name }),
        waited.labels({ name }),
        worked.labels({ name }),
      ];
      return {
        added: () => added.inc(),
        retried: () => retried.inc(),
        taken: (ms) => takenAfter.observe(seconds(ms)),
        finished: (ms) => finishedAfter.observe(seconds(ms)),
      };
    },
  };
}

const seconds = (ms: number): number => ms / 1000;

/** @param subsystem - the controller, as upstream spells it: `daemonset_controller`, `statefulset_controller` */
export function ownWritesMetrics(registry: Registry, subsystem: string): OwnWritesMetrics {
  const registers = [registry];
  const skips = new Counter({
    name: `${subsystem}_stale_sync_skips_total`,
    help: 'Total number of syncs skipped due to a stale cache.',
    registers,
  });
  const overdue = new Counter({
    name: `${subsystem}_own_writes_never_seen_total`,
    help: 'Number of writes of this controller that did not appear in its cache before the timeout.',
    registers,
  });
  return { heldBack: () => skips.inc(), gaveUp: () => overdue.inc() };
}

/** Upstream has no metrics of its event recorder, so these names are ours. */
export function eventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  const sent = new Counter({
    name: 'dkc_events_sent_total',
    help: 'Number of events that the API server accepted, by whether they were created or patched.',
    labelNames: ['operation'],
    registers,
  });
  const dropped = new Counter({
    name: 'dkc_events_dropped_total',
    help: 'Number of events that were not sent, by reason: full, limited, refused, failed, closed, invalid.',
    labelNames: ['reason'],
    registers,
  });
  const retries = new Counter({ name: 'dkc_events_retries_total', help: 'Number of attempts to send an event again.', registers });
  const waiting = new Gauge({ name: 'dkc_events_waiting', help: 'Number of events that are waiting to be sent.', registers });
  return {
    sent: (operation) => sent.inc({ operation }),
    dropped: (reason) => dropped.inc({ reason }),
    retried: () => retries.inc(),
    waiting: (count) => waiting.set(count),
  };
}

const grouping = "'name' is the string used to identify the lease. Please make sure to group by name.";

/** `leader_election_*` under the names of Kubernetes' own components. */
export function electionMetrics(registry: Registry): ElectionMetrics {
  const registers = [registry];
  const status = new Gauge({
    name: 'leader_election_master_status',
    help: `Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. ${grouping}`,
    labelNames: ['name'] as const,
    registers,
  });
  const slowPath = new Counter({
    name: 'leader_election_slowpath_total',
    help: `Total number of slow path exercised in renewing leader leases. ${grouping}`,
    labelNames: ['name'] as const,
    registers,
  });
  return {
    leading: (name, isLeading) => status.set({ name }, isLeading ? 1 : 0),
    slowRenewal: (name) => slowPath.inc({ name }),
  };
}

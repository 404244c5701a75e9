import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { electionMetrics, eventMetrics, ownWritesMetrics, queueMetrics } from './controller-metrics.ts';
import { informerMetrics, reflectorMetrics, restMetrics } from './client-metrics.ts';
import type { ReflectorMetrics } from '../cache/failure-log.ts';
import type { RestMetrics } from '../client/requests.ts';
import type { EventMetrics } from '../controller/event-recorder.ts';
import type { ElectionMetrics } from '../election/election.ts';
import type { Labels, Meters } from '../process/contract.ts';
import type { QueueMetrics } from '../queue/work-queue.ts';

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

/** All metrics of a controller process, in one registry. */
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
  const series: Meters['series'] = (name, help, labelNames, read) => {
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => {
        // Series that `read` no longer returns are removed: users may name label values.
        made.reset();
        for (const { labels, value } of read()) made.set(labels, value);
      },
    });
  };
  return {
    series,
    ownWrites: (subsystem) => ownWritesMetrics(registry, subsystem),
    counter(name, help, labelNames = []) {
      const made = new Counter({ name, help, labelNames, registers });
      return (labels: Labels = {}, by = 1) => made.inc(labels, by);
    },
    gauge(name, help, read) {
      const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
    },
    gauges: (name, help, labelName, read) =>
      series(name, help, [labelName], () => Object.entries(read()).map(([of, value]) => ({ labels: { [labelName]: of }, value }))),
    histogram(name, help, { labelNames = [], buckets }) {
      const made = new Histogram({ name, help, labelNames, buckets: [...buckets], registers });
      return (value, labels: Labels = {}) => made.observe(labels, value);
    },
  };
}

/**
 * The usual metrics of a process, read at each scrape. Not prom-client's own set: that starts an event loop monitor and an observer of garbage collections
 * that cannot be stopped, and loads a tracing library.
 */
export function processMetrics(registry: Registry, files: ProcessFiles = procFiles): void {
  const registers = [registry];
  let spent = 0;
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage();
      const now = (user + system) / 1e6;
      cpu.inc(now - spent);
      spent = now;
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers,
  }).set(performance.timeOrigin / 1_000);
  const gauge = (name: string, help: string, value: () => number | undefined): void => {
    const made = new Gauge({
      name,
      help,
      registers,
      collect: () => {
        const now = value();
        if (now === undefined) made.remove();
        else made.set(now);
      },
    });
  };
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => kibibytes(files.status(), 'VmSize'));
  gauge('process_open_fds', 'Number of open file descriptors.', () => files.descriptors());
  gauge('process_max_fds', 'Maximum number of open file descriptors.', () => limit(files.limits()));
  gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => process.memoryUsage().heapTotal);
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external);
  eventLoop(registers);
  new Gauge({ name: 'nodejs_version_info', help: 'Node.js version info.', labelNames: ['version'], registers }).set(
    { version: process.version },
    1,
  );
}

/** Share of time since the last scrape in which the event loop was busy: 1 means that it is saturated. */
function eventLoop(registers: Registry[]): void {
  let last = performance.eventLoopUtilization();
  const made = new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'Share of time in which the event loop was busy since the last scrape, 0 to 1.',
    registers,
    collect: () => {
      const now = performance.eventLoopUtilization();
      made.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

/** Values from /proc; undefined where there is none. */
interface ProcessFiles {
  status: () => string | undefined;
  limits: () => string | undefined;
  descriptors: () => number | undefined;
}

const procFiles: ProcessFiles = {
  status: () => orNothing(() => readFileSync('/proc/self/status', 'utf8')),
  limits: () => orNothing(() => readFileSync('/proc/self/limits', 'utf8')),
  // One of the descriptors is the one that reads this directory.
  descriptors: () => orNothing(() => readdirSync('/proc/self/fd').length - 1),
};

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function kibibytes(status: string | undefined, field: string): number | undefined {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status ?? '')?.[1];
  return found === undefined ? undefined : Number(found) * 1_024;
}

function limit(limits: string | undefined): number | undefined {
  const found = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

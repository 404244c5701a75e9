import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { AccessSource, ClusterAccess } from '../client/access.ts';
import type { Client } from '../client/client.ts';
import type { ClientOptions } from '../client/http-client.ts';
import type { Check } from '../serving/checks.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import type { Informers } from '../cache/informers.ts';
import type { EventRecorder } from '../controller/event-recorder.ts';
import type { RateLimits } from '../queue/rate-limit.ts';
import type { Dump } from '../serving/debug.ts';
import type { OwnWritesMetrics } from '../controller/own-writes.ts';
import type { LeaseOptions } from './leadership.ts';

/** Something that runs as long as the process leads: usually a controller. */
export interface Runnable {
  /** For the log. */
  name: string;
  /** Resolves soon after the signal aborts; may resolve before, when its work is done. An error ends the process with exit code 1. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controllers and requests their caches. Called once. @returns what runs once every cache has synced and the lease is held */
export type Setup = (runtime: Runtime) => readonly Runnable[];

export interface ProcessOptions {
  /** User agent, and reporting component of the events on the lease: `dkc-controllers`. */
  name: string;
  access: ClusterAccess | AccessSource;
  /** false: works at once, without excluding other processes. */
  leaderElect: false | LeaseOptions;
  /** `HOST:PORT` of `/metrics`, `/healthz` and `/readyz`, port 0 for a free one; '' serves nothing. */
  metricsAddress: string;
  /** Serves profiles and dumps of queues and caches under `/debug` as well; on loopback only. @default false */
  debug?: boolean;
  /** Resync: every object is passed to its controller again every one to two times this long, in ms. @default 0, never */
  resyncMs?: Millis;
  /** Objects in each page of a list. @default 500 */
  pageSize?: number;
  /** Concurrent write calls; at most 80, since newer servers limit the streams of one connection. @default 50 */
  writesAtOnce?: number;
  /** How many events may wait, and how many are sent at once. @default 1000, and one at a time */
  events?: { capacity?: number; atOnce?: number };
  /** Further checks that `/readyz` requires to pass. @default none */
  ready?: readonly Check[];
  /**
   * Called before anything is known about the cluster; or `discover` queries the server first and returns the setup to call. When `discover` throws, it is
   * called again with backoff; until it succeeds the process serves, is not ready, and takes no lease.
   */
  setup: Setup | { discover: (client: Client, signal: AbortSignal) => Promise<Setup> };
  /** For the ready line: every cache has synced and the lease is held. Called at most once. */
  onReady?: (facts: { metrics: string | undefined }) => void;
  /** Called at most once, with the first reason for exit code 1; the log has it as well. */
  onFailed?: (facts: { part: string; error: unknown }) => void;
}

/** The environment of a process. */
export interface World {
  clock: Clock;
  random: Random;
  log: Log;
  /** Aborts when the process is to end: SIGTERM, SIGINT. */
  signal: AbortSignal;
  /** @default over the network */
  createClient?: (access: AccessSource, options: ClientOptions) => Client;
  /** The holder identity in the lease; new in each process. @default `HOST_UUID` */
  identity?: () => string;
  /** In events, as a part of `reportingInstance`. @default the machine's */
  hostName?: string;
}

/** What controllers are built from. */
export interface Runtime {
  /** With leader election, writes are rejected (`NotLeaderError`) unless leadership is certain; reads always pass. */
  client: Client;
  /** Request the needed caches in `setup`; the process runs them. */
  informers: Pick<Informers, 'of' | 'settled' | 'whenSettled'>;
  /**
   * @param component - the reporting component: `daemonset-controller`
   * @param instance - the process of that component, as `reportingInstance`. @default ''
   */
  events: (component: string, instance?: string) => EventRecorder;
  /** Name of the machine that this process runs on. */
  hostName: string;
  /** A queue with metrics, shown by `--debug`. @throws {RangeError} for a name that is taken */
  queue: (name: string, limits?: RateLimits) => WorkQueue;
  meters: Meters;
  /** Shows something of the process under `/debug/NAME`, where `debug` is on. @throws {RangeError} for a name that is taken */
  dump: (name: string, dump: Dump) => void;
  clock: Clock;
  random: Random;
  log: Log;
}

export type Labels = Record<string, string | number>;

/** A controller's own metrics, independent of the registry. Each name may be used once in a process: the second use throws. */
export interface Meters {
  /** @param subsystem - the controller, as upstream spells it: `daemonset_controller` */
  ownWrites(subsystem: string): OwnWritesMetrics;
  /** @returns adds `by`, 1 by default */
  counter(name: string, help: string, labelNames?: readonly string[]): (labels?: Labels, by?: number) => void;
  /** @param read - called at each scrape; cheap */
  gauge(name: string, help: string, read: () => number): void;
  /** One gauge with a value for each value of a label. @param read - called at each scrape; cheap */
  gauges(name: string, help: string, labelName: string, read: () => Readonly<Record<string, number>>): void;
  /** One gauge with a series for each set of labels that `read` returns; other series are removed. @param read - called at each scrape; cheap */
  series(name: string, help: string, labelNames: readonly string[], read: () => readonly { labels: Labels; value: number }[]): void;
  /** @returns observes one value */
  histogram(
    name: string,
    help: string,
    shape: { labelNames?: readonly string[]; buckets: readonly number[] },
  ): (value: number, labels?: Labels) => void;
}

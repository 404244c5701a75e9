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

/** Something that runs for as long as the process leads: mostly a controller. */
export interface Runnable {
  /** For the log. */
  name: string;
  /** Ends soon after the signal aborts; may end before, when its work is done. What it throws ends the process with 1. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controllers: which caches they need, and what to run. Called once. @returns what runs once every cache has synced and the lease is held */
export type Setup = (runtime: Runtime) => readonly Runnable[];

export interface ProcessOptions {
  /** User agent, and who reports the events on the lease: `dkc-controllers`. */
  name: string;
  access: ClusterAccess | AccessSource;
  /** false: works at once, and beside others. */
  leaderElect: false | LeaseOptions;
  /** `HOST:PORT` of `/metrics`, `/healthz` and `/readyz`, port 0 for a free one; '' serves nothing. */
  metricsAddress: string;
  /** Serves profiles and dumps of queues and caches under `/debug` as well; on loopback only. @default false */
  debug?: boolean;
  /** Shows every object to its controller again so often, and up to twice as seldom, in ms. @default 0, never */
  resyncMs?: Millis;
  /** Objects in each page of a list. @default 500 */
  pageSize?: number;
  /** Calls that change something, under way at once; beyond 80 newer servers take no more on one connection. @default 50 */
  writesAtOnce?: number;
  /** How many events may wait, and how many are sent at once. @default 1000, and one after the other */
  events?: { capacity?: number; atOnce?: number };
  /** What else has to be well before `/readyz` says ok. @default nothing */
  ready?: readonly Check[];
  /**
   * Called before anything is known of the cluster; or `discover` asks the server what has to be known before, and gives what is called then. What
   * `discover` throws has it called again, later each time; meanwhile the process serves, is not ready, and takes no lease.
   */
  setup: Setup | { discover: (client: Client, signal: AbortSignal) => Promise<Setup> };
  /** For the ready line: every cache has synced and the lease is held. Once at most. */
  onReady?: (facts: { metrics: string | undefined }) => void;
  /** Why the exit code is going to be 1. Once at most, with the first reason; the log has it as well. */
  onFailed?: (facts: { part: string; error: unknown }) => void;
}

/** What a process needs to be given. */
export interface World {
  clock: Clock;
  random: Random;
  log: Log;
  /** Aborts when the process is to end: SIGTERM, SIGINT. */
  signal: AbortSignal;
  /** @default over the network */
  createClient?: (access: AccessSource, options: ClientOptions) => Client;
  /** Who it is in a lease; new in each process. @default `HOST_UUID` */
  identity?: () => string;
  /** In events, as a part of `reportingInstance`. @default the machine's */
  hostName?: string;
}

/** What controllers are made with. */
export interface Runtime {
  /** With leader election, writes are refused (`NotLeaderError`) unless leadership is certain; reads always pass. */
  client: Client;
  /** Say in `setup` which kinds are needed; the process runs them. */
  informers: Pick<Informers, 'of' | 'settled' | 'whenSettled'>;
  /**
   * @param component - who reports: `daemonset-controller`
   * @param instance - which process of it, as `reportingInstance`. @default ''
   */
  events: (component: string, instance?: string) => EventRecorder;
  /** Of the machine that this process runs on. */
  hostName: string;
  /** A queue that is counted, and shown by `--debug`. @throws {RangeError} for a name that is taken */
  queue: (name: string, limits?: RateLimits) => WorkQueue;
  meters: Meters;
  /** Shows something of the process under `/debug/NAME`, where `debug` is on. @throws {RangeError} for a name that is taken */
  dump: (name: string, dump: Dump) => void;
  clock: Clock;
  random: Random;
  log: Log;
}

export type Labels = Record<string, string | number>;

/** What a controller counts by itself, without knowing who reads it. Each name once in a process: the second time throws. */
export interface Meters {
  /** @param subsystem - the controller, as upstream spells it: `daemonset_controller` */
  ownWrites(subsystem: string): OwnWritesMetrics;
  /** @returns adds `by`, 1 by default */
  counter(name: string, help: string, labelNames?: readonly string[]): (labels?: Labels, by?: number) => void;
  /** @param read - asked at each scrape; cheap */
  gauge(name: string, help: string, read: () => number): void;
  /** One gauge with a value for each value of a label. @param read - asked at each scrape; cheap */
  gauges(name: string, help: string, labelName: string, read: () => Readonly<Record<string, number>>): void;
  /** One gauge with a series for each set of labels that `read` returns: what it returns no longer goes. @param read - asked at each scrape; cheap */
  series(name: string, help: string, labelNames: readonly string[], read: () => readonly { labels: Labels; value: number }[]): void;
  /** @returns takes one more value */
  histogram(
    name: string,
    help: string,
    shape: { labelNames?: readonly string[]; buckets: readonly number[] },
  ): (value: number, labels?: Labels) => void;
}

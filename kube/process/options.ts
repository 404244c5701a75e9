import type { Millis } from '../../base/clock.ts';
import type { AccessSource, ClusterAccess } from '../client/access.ts';
import type { LeaseOptions } from './leadership.ts';
import type { Runtime } from './runtime.ts';

/** Something that goes on for as long as the process leads: mostly a controller. */
export interface Runnable {
  /** For the log. */
  name: string;
  /** Ends soon after the signal aborts; may end before, when its work is done. What it throws ends the process with 1. */
  run(signal: AbortSignal): Promise<void>;
}

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
  /**
   * Makes the controllers: which caches they need, and what to run. Called once, before anything is known of the cluster.
   * @returns what runs once every cache has synced and the lease is held
   */
  setup: (runtime: Runtime) => readonly Runnable[];
  /** For the ready line: every cache has synced and the lease is held. Once at most. */
  onReady?: (facts: { metrics: string | undefined }) => void;
}

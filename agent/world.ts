import type { HealthProbe } from './trial/health.ts';
import type { Notify } from './run/notify.ts';
import type { Clock } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';
import type { Exec } from '../base/exec.ts';
import type { Locks } from '../base/lock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { WatchFiles } from '../base/watch-files.ts';
import type { Client } from '../kube/client/client.ts';

/** Everything outside of the agent that it reaches, built at the door. */
export interface AgentWorld {
  disk: Disk;
  locks: Locks;
  clock: Clock;
  random: Random;
  log: Log;
  exec: Exec;
  watchFiles: WatchFiles;
  probe: HealthProbe;
  notify: Notify;
  /** Opens a client; nothing is sent yet. @throws ActionError for a kubeconfig that cannot be used */
  connect(kubeconfig: string): Promise<Client>;
  /** Of this agent, such as `0.1.0`. */
  version: string;
  /** Aborts when someone asks the agent to stop. */
  stop: AbortSignal;
}

import type { Clock, Millis } from '../base/clock.ts';
import type { HealthProbe, NodeHealth } from './trial/health.ts';
import type { Notify } from './run/notify.ts';
import type { Disk, SyncTimes } from '../base/disk.ts';
import type { Exec } from '../base/exec.ts';
import type { Locks } from '../base/lock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { WatchFiles } from '../base/changing-files.ts';
import type { Client } from '../kube/client/client.ts';
import type { Announcer } from './events/announcer.ts';
import type { SlowDisk } from './boot/volatile-file.ts';
import type { DriftWatch } from './drift/drift-watch.ts';
import type { KubeletFacts } from './config/contract.ts';
import type { Shutdown } from './run/shutdown.ts';
import type { CheckpointGC } from './store/checkpoint-gc.ts';
import type { ActiveRecordWriter } from './status/active-record-writer.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { NodeConfigState } from './status/node-config-state.ts';
import type { Store } from './store/store.ts';
import type { Sync } from './sync/sync.ts';
import type { KubeletWatch } from './trial/kubelet-watch.ts';
import type { TrialWatch } from './trial/trial.ts';

/** All options of `dkc agent run`, parsed, with absolute paths. Flags override /etc/dkc/agent.yaml, which overrides these defaults. */
export interface AgentOptions {
  nodeName: string;
  /** Absent: boot and trial only, the agent sends no request to an API server. */
  kubeconfig?: string;
  dynamicConfigDir: string;
  localConfig: string;
  effectiveConfig: string;
  /** Empty: the agent neither restarts nor inspects a kubelet unit. */
  kubeletUnit: string;
  /** Empty: the kubelet is not probed and counts as healthy, so that time alone passes a trial, as upstream had it. */
  kubeletHealthz: string;
  /** Empty: the configuration that the kubelet reports on /configz is not compared. */
  kubeletConfigz: string;
  kubeletExits: string;
  /** Absent: read from the kubelet's binary, or from the Node object once that exists. */
  kubeletVersion?: string;
  /** A file with one argument per line. Absent: the command line in the kubelet's unit. */
  kubeletArgs?: string;
  merge: 'replace' | 'overlay';
  preflight: boolean;
  /** A file, or `none`. Absent: /etc/dkc/policy.yaml where it exists, else the default policy. */
  policy?: string;
  assignment: 'auto' | 'node' | 'nodeconfig';
  /** Only ConfigMaps in this namespace may be assigned; empty: in any namespace. */
  configmapNamespace: string;
  trialDuration: Millis;
  /** What decides about health in a trial beside the kubelet's probe. Absent: `pods` where the agent may read them, else `node`. */
  trialHealth?: 'pods' | 'node' | 'kubelet';
  unhealthyDeadline: Millis;
  maxKubeletExits: number;
  /** Wait before a failed sync is retried, or a rejected config evaluated again. Changes in the API are synced at once, without regular syncs. */
  syncInterval: Millis;
  restartSpread: Millis;
  keepCheckpoints: number;
  /** Empty: off. */
  metricsBindAddress: string;
  verbosity: number;
}

/** Where the agent looks for its own policy when no flag names one. */
export const DEFAULT_POLICY_FILE = '/etc/dkc/policy.yaml';
export const AGENT_CONFIG_FILE = '/etc/dkc/agent.yaml';

/** `nodeName` has no default here: it defaults to the host name in lower case, which cli/ reads. */
export const agentDefaults: Omit<AgentOptions, 'nodeName'> = {
  dynamicConfigDir: '/var/lib/dkc',
  localConfig: '/var/lib/kubelet/config.yaml',
  effectiveConfig: '/var/lib/dkc/kubelet.yaml',
  kubeletUnit: 'kubelet.service',
  kubeletHealthz: 'http://127.0.0.1:10248/healthz',
  kubeletConfigz: '',
  kubeletExits: '/run/dkc/kubelet-exits',
  merge: 'replace',
  preflight: true,
  assignment: 'auto',
  configmapNamespace: 'dkc-system',
  trialDuration: 600_000,
  unhealthyDeadline: 120_000,
  maxKubeletExits: 3,
  syncInterval: 10_000,
  restartSpread: 0,
  keepCheckpoints: 5,
  metricsBindAddress: '127.0.0.1:10460',
  verbosity: 0,
};

/** Every dependency on the outside: disk, network, clock, processes. Built in cli/. */
export interface AgentWorld {
  disk: Disk;
  /** How long the syncs of `disk` take. Absent: not measured. */
  syncs?: SyncTimes;
  locks: Locks;
  clock: Clock;
  random: Random;
  log: Log;
  exec: Exec;
  watchFiles: WatchFiles;
  probe: HealthProbe;
  notify: Notify;
  /** READY is sent after at most this long, in ms. Absent: only once the start is done. */
  readyWithinMs?: Millis;
  /** Opens a client; sends no request yet. @throws ActionError for a kubeconfig that cannot be used */
  connect(kubeconfig: string): Promise<Client>;
  /** Path of the token file that a kubeconfig names; undefined where it names none. Absent: no token is renewed. */
  tokenFile?(kubeconfig: string): Promise<string | undefined>;
  /** What is wrong with the kubeconfig's credentials, such as an expired certificate, and the fix; undefined: none found. Absent: not checked. */
  credentialProblem?(of: { kubeconfig: string; kubeletUnit: string }): Promise<string | undefined>;
  /** GETs `url` from the kubelet with the kubeconfig's credentials. Absent: no such request is sent. @throws ApiError, TransportError, ActionError */
  fetchFromKubelet?(url: string, as: { kubeconfig: string; nodeName: string }): Promise<unknown>;
  /** The agent's version, such as `0.1.0`. */
  version: string;
  /** Aborts on SIGTERM or SIGINT. */
  stop: AbortSignal;
}

/** What the loops of an agent share after boot. */
export interface AgentContext {
  options: AgentOptions;
  world: AgentWorld;
  store: Store;
  configState: NodeConfigState;
  activeRecord: ActiveRecordWriter;
  shutdown: Shutdown;
  metrics: Metrics;
  trial: TrialWatch;
  kubeletWatch: KubeletWatch;
  nodeHealth: NodeHealth;
  checkpointGc: CheckpointGC;
  announcer: Announcer;
  drift: DriftWatch;
  slowDisk: SlowDisk;
  /** Absent until a client for the API server is open. */
  sync?: Pick<Sync, 'notify'>;
  kubelet: KubeletFacts;
}

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

/** Everything `dkc agent run` can be told (design 7), parsed and absolute. Flags win over /etc/dkc/agent.yaml, which wins over these defaults. */
export interface AgentOptions {
  nodeName: string;
  /** Absent: boot and trial only, no API server is asked. */
  kubeconfig?: string;
  dynamicConfigDir: string;
  localConfig: string;
  effectiveConfig: string;
  /** Empty: nobody hands over to a kubelet. */
  kubeletUnit: string;
  /** Empty: health is time alone, as upstream had it. */
  kubeletHealthz: string;
  /** Empty: what the kubelet says that it runs with is not compared. */
  kubeletConfigz: string;
  kubeletExits: string;
  /** Absent: learned from the kubelet's binary, or from the Node object once it is there. */
  kubeletVersion?: string;
  /** A file with one argument a line. Absent: the unit's own command line. */
  kubeletArgs?: string;
  merge: 'replace' | 'overlay';
  preflight: boolean;
  /** A file, or `none`. Absent: /etc/dkc/policy.yaml where it exists, else the default policy. */
  policy?: string;
  assignment: 'auto' | 'node' | 'nodeconfig';
  /** Only ConfigMaps in here; empty: any. */
  configmapNamespace: string;
  trialDuration: Millis;
  /** Whose word counts in a trial beside the kubelet's own. Absent: pods where the agent's rights allow, else node. */
  trialHealth?: 'pods' | 'node' | 'kubelet';
  unhealthyDeadline: Millis;
  maxKubeletExits: number;
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

/** `nodeName` has no default in here: it is the host's name in lower case, which the edge reads. */
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

/** Everything outside of the agent that it reaches, built at the door. */
export interface AgentWorld {
  disk: Disk;
  /** Of that disk. Absent: nobody measures them. */
  syncs?: SyncTimes;
  locks: Locks;
  clock: Clock;
  random: Random;
  log: Log;
  exec: Exec;
  watchFiles: WatchFiles;
  probe: HealthProbe;
  notify: Notify;
  /** When systemd hears READY at the latest, in ms. Absent: once the start is done. */
  readyWithinMs?: Millis;
  /** Opens a client; nothing is sent yet. @throws ActionError for a kubeconfig that cannot be used */
  connect(kubeconfig: string): Promise<Client>;
  /** The file of the token that a kubeconfig names; undefined where it names none. Absent: nobody renews one. */
  tokenFile?(kubeconfig: string): Promise<string | undefined>;
  /** What is wrong with the credentials of a kubeconfig, such as an expired certificate, with the remedy; undefined: nothing that shows. Absent: nobody looks. */
  credentialProblem?(of: { kubeconfig: string; kubeletUnit: string }): Promise<string | undefined>;
  /** What the kubelet answers at `url`, asked with the credentials of the kubeconfig. Absent: it is not asked. @throws ApiError, TransportError, ActionError */
  askKubelet?(url: string, as: { kubeconfig: string; nodeName: string }): Promise<unknown>;
  /** Of this agent, such as `0.1.0`. */
  version: string;
  /** Aborts when someone asks the agent to stop. */
  stop: AbortSignal;
}

/** An agent that has booted: what its loops share. */
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
  /** Once there is an API server to sync with. */
  sync?: Pick<Sync, 'notify'>;
  kubelet: KubeletFacts;
}

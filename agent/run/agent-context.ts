import type { Announcer } from '../events/announcer.ts';
import type { DriftWatch } from '../drift/drift-watch.ts';
import type { KubeletFacts } from '../config/contract.ts';
import type { Shutdown } from './shutdown.ts';
import type { CheckpointGC } from '../store/checkpoint-gc.ts';
import type { ActiveRecordWriter } from '../status/active-record-writer.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AgentOptions, AgentWorld } from '../options.ts';
import type { NodeConfigState } from '../status/node-config-state.ts';
import type { Store } from '../store/store.ts';
import type { Sync } from '../sync/sync.ts';
import type { KubeletWatch } from '../trial/kubelet-watch.ts';
import type { NodeHealth } from '../trial/node-health.ts';
import type { TrialWatch } from '../trial/trial.ts';

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
  /** Once there is an API server to sync with. */
  sync?: Pick<Sync, 'notify'>;
  kubelet: KubeletFacts;
}

import type { Announcer } from '../events/announcer.ts';
import type { KubeletFacts } from '../config/contract.ts';
import type { Departure } from './shutdown.ts';
import type { Garbage } from '../store/checkpoint-gc.ts';
import type { Memo } from '../status/active-record-writer.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AgentOptions, AgentWorld } from '../options.ts';
import type { Situation } from '../status/node-config-state.ts';
import type { Store } from '../store/store.ts';
import type { Sync } from '../sync/sync.ts';
import type { KubeletWatch } from '../trial/kubelet-watch.ts';
import type { NodeHealth } from '../trial/node-health.ts';
import type { TrialWatch } from '../trial/trial.ts';

/** An agent that has booted: what its loops share. */
export interface Running {
  options: AgentOptions;
  world: AgentWorld;
  store: Store;
  situation: Situation;
  memo: Memo;
  departure: Departure;
  metrics: Metrics;
  trial: TrialWatch;
  kubeletWatch: KubeletWatch;
  nodeHealth: NodeHealth;
  garbage: Garbage;
  announcer: Announcer;
  /** Once there is an API server to sync with. */
  sync?: Pick<Sync, 'poke'>;
  kubelet: KubeletFacts;
}

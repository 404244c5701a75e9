import type { KubeletFacts } from '../config/contract.ts';
import type { AgentOptions } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { BootOutcome } from './outcome.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';

export interface BootDeps {
  options: Pick<AgentOptions, 'dynamicConfigDir' | 'localConfig' | 'effectiveConfig' | 'merge' | 'policy' | 'kubeletUnit' | 'kubeletExits'>;
  store: Store;
  disk: Disk;
  clock: Clock;
  log: Log;
  kubelet: KubeletFacts;
}

/** Synchronous in spirit: no network, ends with a usable effective file. Declared here, written in this folder. */
export type Boot = (deps: BootDeps) => Promise<BootOutcome>;

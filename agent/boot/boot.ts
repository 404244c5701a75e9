import type { KubeletFacts } from '../config/contract.ts';
import type { AgentOptions } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';
import type { ContentRef } from '../checkpoint/payload.ts';
import type { MaybeSource } from '../checkpoint/source.ts';

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

/** What boot chose, and why not something else. This is also what `dkc agent run --once` prints and `dkc drill` rehearses. */
export interface BootOutcome {
  used: 'assigned' | 'last-known-good' | 'local';
  /** The source in use; null for local. */
  source: MaybeSource;
  /** Its content; absent for local. */
  content?: ContentRef;
  assigned: MaybeSource;
  /** False where the record is missing or damaged: then `assigned` is null and means unknown. */
  assignedKnown: boolean;
  lastKnownGood: MaybeSource;
  /** A string of spec 7.2 or design 4; null when all is well. */
  error: string | null;
  /** What is wrong with the local config, for people; absent when nothing. */
  localProblem?: string;
  effective: {
    path: string;
    /** Of what is on disk now; empty when there is no file and none could be written. */
    sha256: string;
    /** Whether this boot wrote it. */
    changed: boolean;
    /** Whether a kubelet can start on it: it is there and decodes. */
    usable: boolean;
  };
}

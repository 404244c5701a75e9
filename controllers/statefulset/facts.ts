import type { Millis } from '../../base/clock.ts';
import type { ClaimPlan } from '../../kube/controller/claim.ts';
import type { HistoryPlan, Revision } from '../common/history/contract.ts';
import type { Memory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';
import type { Pvc, Pod, StorageClass } from './types.ts';

/** What the caches have of one set, and what the controller remembers of it. */
export interface Observed {
  rules: Rules;
  /** Wall clock, in ms: pods say when they became ready on that of their nodes. */
  now: Millis;
  memory: Memory;
  /** The set's, and those of its namespace without a controller. */
  pods: readonly Readonly<Pod>[];
  /** The set's, and those of its namespace without a controller. */
  revisions: readonly Readonly<Revision>[];
  /** A claim of the set's namespace, by name. */
  pvc: (name: string) => Readonly<Pvc> | undefined;
  /** All claims of the set's namespace; asked for when they are to grow. */
  allPvcs: () => readonly Readonly<Pvc>[];
  /** @param name - undefined: of claims that name none */
  storageClass: (name: string | undefined) => Readonly<StorageClass> | undefined;
}

/** All that one decision on one set rests on. Values: the same facts give the same plan. */
export interface SetFacts extends Omit<Observed, 'pods' | 'revisions'> {
  /** `pods.keep` and `pods.adopt` are the set's. */
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  /** Its `current` is the update revision: that of the present template. */
  history: HistoryPlan;
  /** The revision that the last complete rollout left; the update revision where there is none. */
  currentRevision: Readonly<Revision>;
}

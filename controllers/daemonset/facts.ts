import type { Millis } from '../../base/clock.ts';
import type { ClaimPlan } from '../../kube/controller/claim.ts';
import type { HistoryPlan, Revision } from '../common/history/contract.ts';
import type { Memory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';
import type { Counted } from './status-counter.ts';
import type { Summary } from './summary.ts';
import type { Pod } from './types.ts';

/** What the caches have of one set, and what the controller remembers of it. */
export interface Observed {
  rules: Rules;
  /** Wall clock, in ms: pods say when they became ready on that of their nodes. */
  now: Millis;
  /** Ms until it need not be waited any longer for what the last pass did; 0 when all of it was seen. */
  pendingMs: Millis;
  memory: Memory;
  /** The set's, and those of its namespace without a controller. */
  revisions: readonly Readonly<Revision>[];
  /** Pods of its namespace without a controller. */
  orphans: readonly Readonly<Pod>[];
  /** The set's pods that its selector matches. Asked for when several revisions hold one template, which is rare: it lists all pods of the namespace. */
  ownPods: () => readonly Readonly<Pod>[];
  /**
   * What the nodes and the set's pods add up to. Called once.
   * @param hash - of the present revision
   * @param adopted - orphans that count as the set's
   */
  count: (hash: string, adopted: readonly Readonly<Pod>[]) => Counted;
}

/** All that one decision on one set rests on. Values: the same facts give the same plan. */
export interface SetFacts extends Pick<Observed, 'rules' | 'now' | 'pendingMs' | 'memory'> {
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  history: HistoryPlan;
  /** Of the pods that are the set's, or will be by the adoption. */
  summary: Summary;
}

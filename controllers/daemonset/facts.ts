import type { Millis } from '../../base/clock.ts';
import type { ClaimPlan } from '../../kube/controller/claim-plan.ts';
import type { HistoryPlan, Revision } from '../common/history/contract.ts';
import type { Memory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';
import type { Summary } from './summary.ts';
import type { Pod } from './types.ts';

/** All that one decision on one set rests on. Values: the same facts give the same plan. */
export interface SetFacts {
  rules: Rules;
  /** Wall clock, in ms: pods say when they became ready on that of their nodes. */
  now: Millis;
  /** Ms until it need not be waited any longer for what the last pass did; 0 when all of it was seen. */
  pendingMs: Millis;
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  history: HistoryPlan;
  /** Of the pods that are the set's, or will be by the claims. */
  summary: Summary;
  memory: Memory;
}

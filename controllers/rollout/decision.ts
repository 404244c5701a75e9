import type { Action } from './actions.ts';
import type { Groups } from './grouping.ts';
import type { Progress } from './progress.ts';
import type { Phase } from './types.ts';
import type { WakeUp } from '../common/reconcile.ts';

/** What a plan comes to, before it is written as a status. */
export interface Decision {
  phase: Phase;
  /** In CamelCase, for conditions and events. */
  reason: string;
  /** For people: what it waits for, or does. */
  text: string;
  waitsFor?: string | undefined;
  progress?: Progress;
  /** Where nodes stand on their way to the revision. */
  groups?: Groups;
  actions?: readonly Action[];
  wakeUps?: readonly WakeUp[];
  asksGates?: boolean;
  /** It would touch a node, if there were a place for it in the cluster. */
  waitsForPlace?: boolean;
}

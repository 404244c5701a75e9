import type { Millis } from '../../base/clock.ts';
import { done, type Outcome } from '../../kube/controller/outcome.ts';

/** Look again after so long: nothing else will tell. */
export interface WakeUp {
  requeueAfter: Millis;
  why: string;
}

/** When to look again: at the first of them. There may be one for each pod. */
export function earliest(wakeUps: readonly WakeUp[]): Outcome {
  let first: WakeUp | undefined;
  for (const one of wakeUps) if (first === undefined || one.requeueAfter < first.requeueAfter) first = one;
  return first ?? done;
}

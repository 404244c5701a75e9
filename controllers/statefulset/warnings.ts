import type { Told } from '../common/news.ts';
import { MAX_REPLICAS, type Rules } from './rules.ts';

/** A claim that cannot grow. */
export const refusal = ({ claim, why }: { claim: string; why: string }): Told => ({
  type: 'Warning',
  reason: 'FailedExpand',
  message: `Claim ${claim} cannot be expanded: ${why}`,
});

export function problemsOf({ optIns }: Rules): Told[] {
  return optIns.problems.map((problem) => ({
    type: 'Warning',
    reason: 'InvalidAnnotation',
    message: `No pods are replaced or scaled down, for an annotation cannot be read: ${problem}`,
  }));
}

/** More replicas than there are places. */
export function excessOf({ replicas, places }: Rules): Told[] {
  if (replicas <= places.length) return [];
  const message = `spec.replicas is ${replicas}, and ${places.length} pods are made: a set has at most ${MAX_REPLICAS}, and no ordinal above 2147483647; lower spec.replicas`;
  return [{ type: 'Warning', reason: 'TooManyReplicas', message }];
}

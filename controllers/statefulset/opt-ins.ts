import type { Millis } from '../../base/clock.ts';
import { ordinalRangesIn } from '../../kube/api/ordinals.ts';
import { AnnotationReader, countOrShare } from '../common/annotations.ts';

/** What a set asks for by annotations; without them it behaves as everywhere. */
export interface OptIns {
  /** Pods are not replaced; missing ones are made, scaling goes on. */
  paused: boolean;
  /** In ms. A rollout that makes no progress for so long is stalled, and conditions tell of progress. */
  progressDeadlineMs: Millis | undefined;
  /** A pod of another revision than the wanted one that keeps an ordered rollout waiting is deleted. */
  forcedRollback: boolean;
  /** Where the server drops the field: a count, or a share of the replicas, rounded down. */
  maxUnavailable: number | string | undefined;
  /** Ordinals that are left out, in order, without repetition. */
  reserved: readonly number[];
  /** Claims smaller than their template are enlarged, where their class allows it. */
  expandClaims: boolean;
  /** Annotations that cannot be read, and why. While there are any, nothing is replaced or scaled down. */
  problems: readonly string[];
}

const PAUSED = 'dkc.dev/paused';
const DEADLINE = 'dkc.dev/progress-deadline';
const FORCED_ROLLBACK = 'dkc.dev/forced-rollback';
const MAX_UNAVAILABLE = 'dkc.dev/max-unavailable';
const EXPAND_CLAIMS = 'dkc.dev/expand-claims';
/** Ordinals that the set leaves out. The scheduler has its own constant for it: it counts the replicas of a set too. */
export const RESERVED_ORDINALS = 'dkc.dev/reserve-ordinals';

/** Pure. @param annotations - of the set */
export function optInsOf(annotations: Readonly<Record<string, string>> = {}): OptIns {
  const reader = new AnnotationReader(annotations);
  return {
    paused: reader.flag(PAUSED),
    progressDeadlineMs: reader.duration(DEADLINE),
    forcedRollback: reader.flag(FORCED_ROLLBACK),
    maxUnavailable: reader.read(MAX_UNAVAILABLE, atLeastOne, 'write a number of pods above 0, such as "2", or a share, such as "30%"'),
    reserved: reader.read(RESERVED_ORDINALS, ordinalsIn, 'write up to 10,000 ordinals and ranges, such as "1,3-5"') ?? [],
    expandClaims: reader.flag(EXPAND_CLAIMS),
    problems: reader.problems,
  };
}

/** None would never update anything; the field does not take it either. */
function atLeastOne(text: string): number | string | undefined {
  const value = countOrShare(text);
  return value === 0 || (typeof value === 'string' && Number.parseInt(value, 10) === 0) ? undefined : value;
}

/**
 * Reads a list of ordinals as {@link ordinalRangesIn} does. Pure.
 * @returns each ordinal, ascending; undefined for text that is no such list
 */
export function ordinalsIn(text: string): readonly number[] | undefined {
  return ordinalRangesIn(text)?.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
}

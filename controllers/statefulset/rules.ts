import type { Millis } from '../../base/clock.ts';
import { type LabelSelector, labelSelectorOf, SelectorError } from '../../kube/api/selector.ts';
import { tooLarge } from '../common/set-size.ts';
import { Places } from './places.ts';
import type { PodTemplate, Pvc, StatefulSet } from '../common/types.ts';
import type { SetEvent } from '../common/events.ts';
import { ordinalRangesIn } from '../../kube/api/ordinals.ts';
import { AnnotationReader, countOrShare } from '../common/annotations.ts';

/** A set as its author wrote it, read once: defaulted, and with what cannot be read named. */
export interface Rules {
  readonly set: Readonly<StatefulSet>;
  readonly name: string;
  readonly namespace: string;
  /** undefined: it cannot be read, or is empty and would select everything. */
  readonly selector: LabelSelector | undefined;
  /** Why nothing is done for it; what is large is not read then. */
  readonly tooLarge: string | undefined;
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly template: Readonly<PodTemplate>;
  readonly claimTemplates: readonly Readonly<Pvc>[];
  /** Those that should have a pod; {@link MAX_REPLICAS} at most. */
  readonly places: Places;
  /** As the author wrote it: it may be more than there are places. */
  readonly replicas: number;
  readonly parallel: boolean;
  /** `partition` counts places from the first; undefined: a RollingUpdate without its block. */
  readonly update:
    | { type: 'OnDelete' }
    | { type: 'Recreate' }
    | { type: 'RollingUpdate'; partition: number | undefined; maxUnavailable: number | string | undefined };
  readonly minReadyMs: Millis;
  /** Old revisions to keep; below 0 all. */
  readonly historyLimit: number;
  readonly retention: { whenDeleted: 'Retain' | 'Delete'; whenScaled: 'Retain' | 'Delete' };
  readonly optIns: OptIns;
}

/** More pods than any cluster has: a slip in `replicas` must not fill a cluster. */
const MAX_REPLICAS = 1_000_000;

/** Reads a set. Pure; never throws: what a server would have refused is taken for the default. */
export function rulesOf(set: Readonly<StatefulSet>): Rules {
  const { metadata, spec } = set;
  const optIns = optInsOf(metadata.annotations);
  const { selector, template = {}, volumeClaimTemplates: claimTemplates = [] } = spec ?? {};
  const why = tooLarge({ selector, template, claimTemplates });
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const replicas = countOr(spec?.replicas, 1);
  return {
    set,
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    selector: why === undefined ? selectorOf(set) : undefined,
    tooLarge: why,
    matchLabels: spec?.selector?.matchLabels ?? {},
    template,
    claimTemplates: why === undefined ? claimTemplatesOf(set) : [],
    places: new Places({
      start: countOr(spec?.ordinals?.start, 0),
      replicas: Math.min(replicas, MAX_REPLICAS),
      reserved: optIns.reserved,
    }),
    replicas,
    parallel: spec?.podManagementPolicy === 'Parallel',
    update: updateOf(set, optIns),
    minReadyMs: 1_000 * countOr(spec?.minReadySeconds, 0),
    historyLimit: spec?.revisionHistoryLimit ?? 10,
    retention: { whenDeleted: keepOr(whenDeleted), whenScaled: keepOr(whenScaled) },
    optIns,
  };
}

function selectorOf({ spec }: Readonly<StatefulSet>): LabelSelector | undefined {
  if (spec?.selector === undefined) return undefined;
  try {
    const labels = labelSelectorOf(spec.selector);
    return labels.length === 0 ? undefined : labels;
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A pod has room for one volume of a name: of templates that share one the last counts, as upstream (getPersistentVolumeClaims). */
function claimTemplatesOf({ spec }: Readonly<StatefulSet>): Pvc[] {
  const byName = new Map<string, Pvc>();
  for (const template of spec?.volumeClaimTemplates ?? []) {
    const { metadata = {} } = template;
    byName.set(metadata.name ?? '', { ...template, metadata });
  }
  return [...byName.values()];
}

function updateOf({ spec }: Readonly<StatefulSet>, optIns: OptIns): Rules['update'] {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type === 'OnDelete' || type === 'Recreate') return { type };
  // Only who names the type can leave the block out: a server adds both where neither is there.
  const block = rollingUpdate ?? (type === undefined ? {} : undefined);
  const { partition, maxUnavailable = optIns.maxUnavailable } = block ?? {};
  return { type: 'RollingUpdate', partition: block === undefined ? undefined : countOr(partition, 0), maxUnavailable };
}

function countOr(value: number | undefined, fallback: number): number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : fallback;
}

function keepOr(policy: string | undefined): 'Retain' | 'Delete' {
  return policy === 'Delete' ? policy : 'Retain';
}

/** A claim that cannot grow. */
export const refusal = ({ pvc, why }: { pvc: string; why: string }): SetEvent => ({
  type: 'Warning',
  reason: 'FailedExpand',
  message: `Claim ${pvc} cannot be expanded: ${why}`,
});

export function problemsOf({ optIns }: Rules): SetEvent[] {
  return optIns.problems.map((problem) => ({
    type: 'Warning',
    reason: 'InvalidAnnotation',
    message: `No pods are replaced or scaled down: invalid annotation: ${problem}`,
  }));
}

/** More replicas than there are places. */
export function excessOf({ replicas, places }: Rules): SetEvent[] {
  if (replicas <= places.length) return [];
  const message = `spec.replicas is ${replicas}, but ${places.length} pods are created: a set has at most ${MAX_REPLICAS}, and no ordinal above 2147483647; lower spec.replicas`;
  return [{ type: 'Warning', reason: 'TooManyReplicas', message }];
}

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

/** With none nothing would ever be updated; the API server does not take it either. */
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

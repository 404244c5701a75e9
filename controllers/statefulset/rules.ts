import type { Millis } from '../../base/clock.ts';
import { type LabelSelector, labelSelectorOf, SelectorError } from '../../kube/api/selector.ts';
import { tooLarge } from '../common/set-size.ts';
import { Places } from './places.ts';
import type { PodTemplate, Pvc, StatefulSet } from '../common/types.ts';
import type { SetEvent } from '../common/events.ts';
import { ordinalRangesIn } from '../../kube/api/ordinals.ts';
import { AnnotationReader, countOrShare } from '../common/annotations.ts';

/** A parsed set: with defaults applied, and with its invalid parts reported. */
export interface Rules {
  readonly set: Readonly<StatefulSet>;
  readonly name: string;
  readonly namespace: string;
  /** undefined: invalid, or empty, which would select everything. */
  readonly selector: LabelSelector | undefined;
  /** Why the set is not synced; its large parts are not parsed then. */
  readonly tooLarge: string | undefined;
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly template: Readonly<PodTemplate>;
  readonly claimTemplates: readonly Readonly<Pvc>[];
  /** Those that should have a pod; {@link MAX_REPLICAS} at most. */
  readonly places: Places;
  /** `spec.replicas`, which may be more than there are places. */
  readonly replicas: number;
  readonly parallel: boolean;
  /** `partition` counts places from the first; undefined: a RollingUpdate without `rollingUpdate`. */
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

/** More pods than any cluster has: a typo in `replicas` must not fill a cluster. */
const MAX_REPLICAS = 1_000_000;

/** Parses a set. Pure; never throws: a value that the API server would have rejected counts as the default. */
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

/** Volume names are unique in a pod: of templates with the same name the last counts, as upstream (getPersistentVolumeClaims). */
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
  // `rollingUpdate` can be absent only when `type` is set: the API server defaults both when neither is.
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

/** The event about a claim that cannot be expanded. */
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

/** The event about more replicas than there are places. */
export function excessOf({ replicas, places }: Rules): SetEvent[] {
  if (replicas <= places.length) return [];
  const message = `spec.replicas is ${replicas}, but ${places.length} pods are created: a set has at most ${MAX_REPLICAS}, and no ordinal above 2147483647; lower spec.replicas`;
  return [{ type: 'Warning', reason: 'TooManyReplicas', message }];
}

/** What annotations of a set opt in to; without them the set behaves as upstream. */
export interface OptIns {
  /** Pods are not replaced; missing ones are created, and scaling continues. */
  paused: boolean;
  /** In ms. A rollout without progress for this long is stalled; conditions report the progress. */
  progressDeadlineMs: Millis | undefined;
  /** A broken outdated pod that blocks an ordered rollout is deleted. */
  forcedRollback: boolean;
  /** For API servers that drop the field: a count, or a share of the replicas, rounded down. */
  maxUnavailable: number | string | undefined;
  /** Ordinals that are left out, in order, without repetition. */
  reserved: readonly number[];
  /** Claims smaller than their template are expanded, where their class allows it. */
  expandClaims: boolean;
  /** Invalid annotations, and why. While there are any, nothing is replaced or scaled down. */
  problems: readonly string[];
}

const PAUSED = 'dkc.dev/paused';
const DEADLINE = 'dkc.dev/progress-deadline';
const FORCED_ROLLBACK = 'dkc.dev/forced-rollback';
const MAX_UNAVAILABLE = 'dkc.dev/max-unavailable';
const EXPAND_CLAIMS = 'dkc.dev/expand-claims';
/** Ordinals that the set leaves out. The scheduler, which counts the replicas of a set too, has its own constant for this name. */
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

/** With 0 no pod would ever be updated; the API server rejects 0 too. */
function atLeastOne(text: string): number | string | undefined {
  const value = countOrShare(text);
  return value === 0 || (typeof value === 'string' && Number.parseInt(value, 10) === 0) ? undefined : value;
}

/**
 * Reads a list of ordinals as {@link ordinalRangesIn} does. Pure.
 * @returns each ordinal, ascending; undefined for invalid text
 */
export function ordinalsIn(text: string): readonly number[] | undefined {
  return ordinalRangesIn(text)?.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
}

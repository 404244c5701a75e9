import type { Millis } from '../../base/clock.ts';
import { labelSelectorOf, SelectorError, type LabelSelector } from '../../kube/api/selector.ts';
import { tooLarge } from '../common/set-size.ts';
import { optInsOf, type OptIns } from './opt-ins.ts';
import { Places } from './places.ts';
import type { Pvc, PodTemplate, StatefulSet } from './types.ts';
import type { SetEvent } from '../common/events.ts';

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
export const MAX_REPLICAS = 1_000_000;

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

import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { LabelSelector } from '../../kube/api/selector.ts';
import { readSelector } from './read-selector.ts';

/** One rule of a pod about being spread, read. */
export interface SpreadConstraint {
  /** The same text for the same rule. */
  readonly id: string;
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** Domains there must be before the emptiest counts. */
  readonly minDomains: number;
  /** Undefined counts no pod. */
  readonly selector: LabelSelector | undefined;
  /** Whether nodes that the pod's own node selector and affinity leave out are left out here as well. */
  readonly honorsAffinity: boolean;
  /** Whether nodes with taints that the pod does not tolerate are left out. */
  readonly honorsTaints: boolean;
}

export interface SpreadConstraints {
  /** `DoNotSchedule`. */
  readonly hard: readonly SpreadConstraint[];
  /** `ScheduleAnyway`. */
  readonly soft: readonly SpreadConstraint[];
}

export const noSpread: SpreadConstraints = { hard: [], soft: [] };

/** @param labels - of the pod: constraints may take values of some of them into their selector (`matchLabelKeys`) */
export function spreadConstraintsOf(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): SpreadConstraints {
  if (!constraints?.length) return noSpread;
  const read = (when: string): SpreadConstraint[] =>
    constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when).map((constraint) => constraintOf(constraint, labels ?? {}));
  return { hard: read('DoNotSchedule'), soft: read('ScheduleAnyway') };
}

function constraintOf(constraint: TopologySpreadConstraint, labels: Readonly<Record<string, string>>): SpreadConstraint {
  const { topologyKey, maxSkew, minDomains, labelSelector, matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const keys = (matchLabelKeys ?? []).filter((key) => Object.hasOwn(labels, key)).toSorted();
  const own = keys.map((key) => ({ key, operator: 'in' as const, values: [labels[key] ?? ''] }));
  const selector = labelSelector ? readSelector(labelSelector) : undefined;
  const taken = own.map(({ key, values }) => [key, ...values]);
  return {
    id: JSON.stringify([
      topologyKey,
      maxSkew,
      minDomains ?? 1,
      labelSelector ?? null,
      taken,
      nodeAffinityPolicy ?? 'Honor',
      nodeTaintsPolicy ?? 'Ignore',
    ]),
    topologyKey,
    maxSkew,
    minDomains: minDomains ?? 1,
    selector: selector && [...selector, ...own],
    honorsAffinity: nodeAffinityPolicy !== 'Ignore',
    honorsTaints: nodeTaintsPolicy === 'Honor',
  };
}

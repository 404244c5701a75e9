import { matchesLabels, type LabelSelector } from '../../kube/api/selector.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { readSelector } from '../pod/read-selector.ts';
import type { Budget } from '../types.ts';

interface Allowance {
  readonly selector: LabelSelector;
  readonly allowed: number;
  /** Names of pods whose going the server has counted already. */
  readonly counted: Readonly<Record<string, unknown>>;
}

/** Disruption budgets, read once for all nodes of an attempt. */
export type Allowances = ReadonlyMap<string, readonly Allowance[]>;

const none: Readonly<Record<string, unknown>> = {};

/**
 * By namespace. Here a budget without a selector, or with an empty one, protects nobody, whichever version of its group it is from: kube-scheduler has it
 * so, although an empty one of `policy/v1` selects every pod where pods are evicted.
 */
export function allowancesOf(budgets: readonly Readonly<Budget>[]): Allowances {
  const all = new Map<string, Allowance[]>();
  for (const { metadata, spec, status } of budgets) {
    const selector = spec?.selector ? readSelector(spec.selector) : undefined;
    if (selector === undefined || selector.length === 0) continue;
    const allowance = { selector, allowed: status?.disruptionsAllowed ?? 0, counted: status?.disruptedPods ?? none };
    const { namespace = '' } = metadata;
    const there = all.get(namespace);
    if (there === undefined) all.set(namespace, [allowance]);
    else there.push(allowance);
  }
  return all;
}

/** Those of `pods` whose going breaks a budget when they go one after the other in this order, and those whose going does not. */
export function splitByBudgets(pods: readonly PodInfo[], allowances: Allowances): { violating: PodInfo[]; others: PodInfo[] } {
  if (allowances.size === 0) return { violating: [], others: [...pods] };
  const left = new Map<Allowance, number>();
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let breaks = false;
    for (const allowance of allowancesFor(pod, allowances)) {
      const remaining = (left.get(allowance) ?? allowance.allowed) - 1;
      left.set(allowance, remaining);
      if (remaining < 0) breaks = true;
    }
    (breaks ? violating : others).push(pod);
  }
  return { violating, others };
}

/** A pod without labels belongs to no budget, not even to one that asks for the absence of a label. */
function allowancesFor({ namespace, name, labels }: PodInfo, allowances: Allowances): readonly Allowance[] {
  const there = allowances.get(namespace);
  if (there === undefined || Object.keys(labels).length === 0) return [];
  return there.filter(({ selector, counted }) => !Object.hasOwn(counted, name) && matchesLabels(selector, labels));
}

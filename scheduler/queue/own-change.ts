import { spreadConstraintsOf } from '../pod/selectors.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { excessOf } from '../pod/pod-limits.ts';
import type { Requests } from '../pod/requests.ts';
import { nominatedNodeOf } from './nominator.ts';

/** Whether the pod has scheduling gates, and must not be attempted before they are removed. */
export function isGated({ pod }: PodInfo): boolean {
  return (pod.spec?.schedulingGates?.length ?? 0) > 0;
}

/** Plugins whose rejection may be void after a change of the pod itself. What schedulers and kubelets write into its status is no such change. */
export function invalidatedBy(before: PodInfo, after: PodInfo): Set<Rejector> {
  const invalidated = new Set<Rejector>();
  if (before === after) return invalidated;
  const [was, is] = [before.pod.spec, after.pod.spec];
  const relabelled = !same(before.labels, after.labels);
  if (relabelled) invalidated.add('PodTopologySpread').add('InterPodAffinity'); // its constraints count its own labels, and other pods' anti-affinity matches them
  if (was !== is) {
    if (asksLess(before.requests, after.requests)) invalidated.add('NodeResourcesFit');
    if (!same(was?.tolerations, is?.tolerations)) {
      invalidated.add('TaintToleration').add('NodeUnschedulable');
      if (spreadConstraintsOf(is?.topologySpreadConstraints, after.labels).hard.some(({ honorsTaints }) => honorsTaints))
        invalidated.add('PodTopologySpread');
    }
    if (!same(was?.nodeSelector, is?.nodeSelector) || !same(was?.affinity?.nodeAffinity, is?.affinity?.nodeAffinity))
      invalidated.add('NodeAffinity').add('PodTopologySpread');
    if (excessOf(was) !== excessOf(is)) invalidated.add('PodLimits');
    if (isGated(before) && !isGated(after)) invalidated.add('SchedulingGates');
  }
  // It is unknown which fields an extender reads.
  if (relabelled || !same(before.pod.metadata.annotations, after.pod.metadata.annotations) || (was !== is && !same(was, is)))
    invalidated.add('Extender');
  return invalidated;
}

/** Whether the pod is still in one equivalence class with those that were rejected like it. Its PodScheduled condition does not count. */
export function asksTheSame(before: PodInfo, after: PodInfo): boolean {
  return (
    same(before.pod.spec, after.pod.spec) &&
    same(before.labels, after.labels) &&
    nominatedNodeOf(before) === nominatedNodeOf(after) &&
    same(before.pod.metadata.ownerReferences, after.pod.metadata.ownerReferences)
  );
}

export function meet(some: ReadonlySet<Rejector>, others: ReadonlySet<Rejector>): boolean {
  for (const one of some) if (others.has(one)) return true;
  return false;
}

function asksLess(before: Requests, after: Requests): boolean {
  if (before === after) return false;
  if (after.cpu < before.cpu || after.memory < before.memory || after.ephemeral < before.ephemeral) return true;
  for (const [resource, amount] of before.scalars) if ((after.scalars.get(resource) ?? 0) < amount) return true;
  return false;
}

/** Equal values have equal texts, as the API server writes them. If they had not, the pod would be attempted once too often. */
function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

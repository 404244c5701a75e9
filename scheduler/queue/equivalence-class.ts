import { labelsKey } from '../cache/pod-groups.ts';
import { nodeSpecKey } from '../engine/node-spec-class.ts';
import type { FitError } from '../engine/rejections.ts';
import type { SchedulerConfig } from '../config/config.ts';
import { nominatedNodeOf, type Nominator } from './nominator.ts';
import type { PodInfo, Requests } from '../pod/pod-info.ts';
import { requiredFeatures } from '../plugins/node-declared-features.ts';
import { compactKey, spreadConstraintsOf } from '../pod/selectors.ts';
import { volumeKey } from '../volumes/pod-volumes.ts';
import type { Rejector } from '../plugins/names.ts';
import { excessOf } from '../pod/pod-limits.ts';

/** What decides whether another pod would be rejected as this one was. */
export interface EquivalenceState {
  readonly nominator: Pick<Nominator, 'nodeOf'>;
  readonly held: { of(pod: PodInfo): unknown };
  readonly volumes: { key(pod: PodInfo): string };
  readonly cluster: { readonly lowestPriority: number };
  readonly config: Pick<SchedulerConfig, 'preemption'>;
}

/**
 * The same text for all pods that would have been rejected as this one was: filters and preemption cannot tell them apart.
 * @returns undefined for a pod that is like no other: it is nominated to a node, has a reservation or volumes of its own, or was rejected before any node was
 * filtered
 */
export function equivalenceClassOf(
  { nominator, held, volumes, cluster, config }: EquivalenceState,
  pod: PodInfo,
  error: FitError,
): string | undefined {
  if (error.nodes === 0 || error.everywhere !== undefined) return undefined;
  if (nominator.nodeOf(pod.uid) !== undefined || held.of(pod) !== undefined || volumes.key(pod) !== '') return undefined;
  const { enabled } = config.preemption;
  // Only these two filters, which run last, and preemption read labels. So pods of a StatefulSet, each with a label of its own, are mostly equivalent.
  const isLabelled =
    error.by.has('PodTopologySpread') ||
    error.by.has('InterPodAffinity') ||
    (enabled && error.resolvable > 0 && cluster.lowestPriority < pod.priority);
  const labels = isLabelled ? labelsKey(pod.labels) : '';
  return [pod.priority, pod.pod.spec?.preemptionPolicy, isLabelled, labels, requirementsKey(pod)].join('\n');
}

const known = new WeakMap<PodInfo, string>();

/** The same text for pods that the same events can help: all that filters read but their own labels. A pod that cannot be read is like no other. */
export function requirementsKey(info: PodInfo): string {
  const seen = known.get(info);
  if (seen !== undefined) return seen;
  let key: string;
  try {
    key = keyOf(info);
  } catch {
    key = `uid ${info.uid}`;
  }
  known.set(info, key);
  return key;
}

function keyOf(info: PodInfo): string {
  const { spec } = info.pod;
  const { cpu, memory, ephemeral, scalars } = info.requests;
  const taken = (spec?.topologySpreadConstraints ?? []).flatMap(
    (constraint) => (constraint as { matchLabelKeys?: string[] }).matchLabelKeys?.map((key) => info.labels[key] ?? '') ?? [],
  );
  const text = JSON.stringify([
    info.namespace,
    info.schedulerName,
    [cpu, memory, ephemeral, [...scalars]],
    info.ports,
    nodeSpecKey(info), // what filters of the node's spec and labels read
    spec?.affinity?.podAffinity,
    spec?.affinity?.podAntiAffinity,
    spec?.topologySpreadConstraints,
    taken,
    volumeKey(info),
    requiredFeatures(spec),
    'resourceClaims' in (spec ?? {}), // devices that no node has by itself
  ]);
  return compactKey(text);
}

/* What a change of the pod itself leads to. */

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
    if (requestsLess(before.requests, after.requests)) invalidated.add('NodeResourcesFit');
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
export function hasSameRequirements(before: PodInfo, after: PodInfo): boolean {
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

function requestsLess(before: Requests, after: Requests): boolean {
  if (before === after) return false;
  if (after.cpu < before.cpu || after.memory < before.memory || after.ephemeral < before.ephemeral) return true;
  for (const [resource, amount] of before.scalars) if ((after.scalars.get(resource) ?? 0) < amount) return true;
  return false;
}

/** Equal values have equal texts, as the API server writes them. If they had not, the pod would be attempted once too often. */
function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

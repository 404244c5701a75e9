import { labelsKey } from '../cache/pod-groups.ts';
import { nodeSpecKey } from '../engine/node-spec-class.ts';
import type { FitError } from '../engine/rejections.ts';
import type { SchedulerConfig } from '../config/config.ts';
import type { Nominator } from './nominator.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { requiredFeatures } from '../plugins/node-declared-features.ts';
import { compactKey } from '../pod/selectors.ts';
import { volumeKey } from '../volumes/pod-volumes.ts';

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
  // Filters read labels last, and preemption reads all of them. So pods of a StatefulSet, with a label of their own each, are mostly alike.
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
  ]);
  return compactKey(text);
}

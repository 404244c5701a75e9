import { labelsKey } from '../cache/pod-groups.ts';
import type { FitError } from '../engine/rejections.ts';
import type { SchedulerConfig } from '../config/config.ts';
import type { Nominator } from './nominator.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { requiredFeatures } from '../plugins/node-declared-features.ts';
import { compactKey } from '../pod/read-selector.ts';
import { volumeKey } from '../volumes/pod-volumes.ts';

/** What has a say in whether another pod would be rejected as this one was. */
export interface EquivalenceState {
  readonly nominator: Pick<Nominator, 'nodeOf'>;
  readonly held: { of(pod: PodInfo): unknown };
  readonly volumes: { key(pod: PodInfo): string };
  readonly cluster: { readonly lowestPriority: number };
  readonly config: Pick<SchedulerConfig, 'preemption'>;
}

/**
 * The same text for pods that would have been refused as this one was, in its stead: no node can tell them apart, nor whoever makes room for them.
 * @returns undefined for one that is not like any other: it was promised a node, room is kept for it, its volumes are its own, or it was refused before
 * nodes were asked
 */
export function equivalenceClassOf(
  { nominator, held, volumes, cluster, config }: EquivalenceState,
  pod: PodInfo,
  error: FitError,
): string | undefined {
  if (error.nodes === 0 || error.everywhere !== undefined) return undefined;
  if (nominator.nodeOf(pod.uid) !== undefined || held.of(pod) !== undefined || volumes.key(pod) !== '') return undefined;
  const { enabled } = config.preemption;
  // Labels are looked at after everything else; whoever takes others away looks at all there is. So pods of a numbered set are mostly alike.
  const isLabelled =
    error.by.has('PodTopologySpread') ||
    error.by.has('InterPodAffinity') ||
    (enabled && error.resolvable > 0 && cluster.lowestPriority < pod.priority);
  const labels = isLabelled ? labelsKey(pod.labels) : '';
  return [pod.priority, pod.pod.spec?.preemptionPolicy, isLabelled, labels, requirementsKey(pod)].join('\n');
}

const known = new WeakMap<PodInfo, string>();

/** The same text for pods that the same events can help: all that filters look at but their own labels. One that cannot be read is like no other. */
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
    spec?.tolerations,
    spec?.nodeSelector,
    spec?.affinity,
    spec?.topologySpreadConstraints,
    taken,
    volumeKey(info),
    requiredFeatures(spec),
  ]);
  return compactKey(text);
}

import { labelsKey } from '../cache/pod-groups.ts';
import type { FitError } from '../engine/fit-error.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Parts } from '../core/state.ts';
import { podClassKey } from './pod-class-key.ts';

/** What has a say in whether another pod would be refused as this one was. */
export interface LikewiseParts {
  readonly nominator: Pick<Parts['nominator'], 'nodeOf'>;
  readonly reservations: Pick<Parts['reservations'], 'of'>;
  readonly volumes: Pick<Parts['volumes'], 'key'>;
  readonly cluster: Pick<Parts['cluster'], 'lowestPriority'>;
  readonly config: Pick<Parts['config'], 'preemption'>;
}

/**
 * The same text for pods that would have been refused as this one was, in its stead: no node can tell them apart, nor whoever makes room for them.
 * @returns undefined for one that is not like any other: it was promised a node, room is kept for it, its volumes are its own, or it was refused before
 * nodes were asked
 */
export function likewiseOf(
  { nominator, reservations, volumes, cluster, config }: LikewiseParts,
  pod: PodInfo,
  error: FitError,
): string | undefined {
  if (error.nodes === 0 || error.everywhere !== undefined) return undefined;
  if (nominator.nodeOf(pod.uid) !== undefined || reservations.of(pod) !== undefined || volumes.key(pod) !== '') return undefined;
  const { enabled } = config.preemption;
  // Labels are looked at after everything else; whoever takes others away looks at all there is. So pods of a numbered set are mostly alike.
  const isLabelled =
    error.by.has('PodTopologySpread') ||
    error.by.has('InterPodAffinity') ||
    (enabled && error.resolvable > 0 && cluster.lowestPriority < pod.priority);
  const labels = isLabelled ? labelsKey(pod.labels) : '';
  return [pod.priority, pod.pod.spec?.preemptionPolicy, isLabelled, labels, podClassKey(pod)].join('\n');
}

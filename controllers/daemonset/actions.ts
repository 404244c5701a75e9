import type { SetEvent } from '../common/events.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { Pod, PodTemplate } from '../common/types.ts';
import { daemonSets } from '../../kube/api/object.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { podFromTemplate } from '../common/pods.ts';
import { daemonTolerations, type Rules } from './rules.ts';
import { pinnedTo } from './pods.ts';

export interface Creation {
  node: string;
  /** Of the revision that the pod is made from. */
  hash: string;
  template: Readonly<PodTemplate>;
  /** The template is the set's present one. */
  present: boolean;
}

/**
 * Why a pod is deleted. misplaced: the node must not keep it; surplus: the node has another pod; failed, succeeded: it has ended; vanished: the node does not
 * exist and the pod was never bound; update: it is to be replaced; surged: it is replaced by the pod beside it.
 */
export type DeletionReason = 'misplaced' | 'surplus' | 'failed' | 'succeeded' | 'vanished' | 'update' | 'surged';

export interface Deletion {
  pod: Readonly<Pod>;
  node: string;
  reason: DeletionReason;
}

/** Changes of pods: the plan merges those of `manage` with those of `planUpdate` or `planSurge`. */
export interface PodActions {
  creations: Creation[];
  deletions: Deletion[];
  events: SetEvent[];
  wakeUps: WakeUp[];
}

export function noActions(): PodActions {
  return { creations: [], deletions: [], events: [], wakeUps: [] };
}

const LEGACY_SCHEDULER = 'kubernetes.io/daemonset-controller';
const GENERATION_LABEL = 'pod-template-generation';

/** The pod for a node. @throws {Error} for a template without labels */
export function newPod(rules: Rules, { node, hash, template, present }: Creation): Pod {
  const pod = podFromTemplate(template, rules.set, daemonSets);
  const { templateGeneration } = rules;
  const labels: Record<string, string> = { ...pod.metadata.labels, [HASH_LABEL]: hash };
  // A pod of an old revision must not look up to date.
  if (templateGeneration !== undefined && present) labels[GENERATION_LABEL] = templateGeneration;
  const spec = template.spec ?? { containers: [] };
  const tolerations = present
    ? rules.tolerations
    : daemonTolerations(spec, { era: rules.placement === 'controller' ? 'legacy' : 'modern', critical: rules.critical });
  const placed =
    rules.placement === 'controller'
      ? { ...spec, nodeName: node, schedulerName: LEGACY_SCHEDULER }
      : { ...spec, affinity: pinned(spec, node) };
  return { ...pod, metadata: { ...pod.metadata, labels }, spec: { ...placed, tolerations: [...tolerations] } };
}

/** Replaces the required node affinity, which was evaluated when the node was chosen; keeps preferred node affinity and pod affinity. */
function pinned({ affinity }: NonNullable<Pod['spec']>, node: string): NonNullable<NonNullable<Pod['spec']>['affinity']> {
  return { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: pinnedTo(node) } };
}

import type { PodSpec, Toleration } from 'kubernetes-types/core/v1.js';
import { mergeTolerations } from '../../../kube/api/placement.ts';

/** Where a scheduler places the pods, or where this controller does as it did before there was another way. */
export interface TolerationFacts {
  era: 'modern' | 'legacy';
  /** Of the legacy kind: in kube-system, with the annotation. Modern sets say it by priority, which taints know nothing of. */
  critical: boolean;
}

const exists = (name: string, effect: string): Toleration =>
  Object.freeze({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect });

const always = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
];
const unschedulable = exists('unschedulable', 'NoSchedule');
/** Legacy clusters know no such taint. */
const modern = [exists('pid-pressure', 'NoSchedule')];
/** A pod that brings up the network cannot wait for it. */
const onHostNetwork = [exists('network-unavailable', 'NoSchedule')];
const critical = [exists('out-of-disk', 'NoExecute'), exists('out-of-disk', 'NoSchedule')];

/**
 * The tolerations of a set's pods: those of the template, and those that keep a daemon on a node that is in trouble. An automatic one replaces the
 * template's own of the same key, effect, operator and value, so that `tolerationSeconds` is gone.
 */
export function daemonTolerations(
  spec: Readonly<Pick<PodSpec, 'tolerations' | 'hostNetwork'>> | undefined,
  facts: TolerationFacts,
): Toleration[] {
  return mergeTolerations(spec?.tolerations, [
    ...always,
    ...(facts.era === 'modern' ? modern : []),
    unschedulable,
    ...(spec?.hostNetwork === true ? onHostNetwork : []),
    ...(facts.era === 'legacy' && facts.critical ? critical : []),
  ]);
}

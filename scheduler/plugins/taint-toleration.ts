import type { Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { firstUntolerated, refusingEffects, toleratesTaint } from '../../kube/api/placement.ts';
import type { Node } from '../types.ts';
import type { Rejection } from './names.ts';

/** How the reason is worded: as kube-scheduler 1.24 to 1.34 do, or as the newest does. */
export type TaintMessage = '1.34' | 'head';

/** Rejects a node with a NoSchedule or NoExecute taint that the pod does not tolerate; before `head`, the reason names the first one. */
export function taintToleration(tolerations: readonly Toleration[], node: Readonly<Node>, message: TaintMessage): Rejection | undefined {
  const taints = node.spec?.taints;
  if (!taints?.length) return undefined;
  const taint = firstUntolerated(taints, tolerations, refusingEffects);
  if (taint === undefined) return undefined;
  const text =
    message === 'head' ? 'node(s) had untolerated taint(s)' : `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
  return { plugin: 'TaintToleration', resolvable: false, reasons: [text] };
}

/** Number of PreferNoSchedule taints that the pod does not tolerate: the fewer the better. */
export function untoleratedPreferences(tolerations: readonly Toleration[], node: Readonly<Node>): number {
  let count = 0;
  for (const taint of node.spec?.taints ?? []) if (taint.effect === 'PreferNoSchedule' && !isTolerated(tolerations, taint)) count += 1;
  return count;
}

function isTolerated(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => toleratesTaint(toleration, taint));
}

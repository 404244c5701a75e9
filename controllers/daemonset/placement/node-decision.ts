import type { Toleration, Taint } from 'kubernetes-types/core/v1.js';
import { firstUntolerated, matchesNodeAffinity, matchesNodeSelector, refusingEffects } from '../../../kube/api/placement.ts';
import type { Rules } from '../rules.ts';
import type { Node, PodTemplate } from '../../common/types.ts';

const evicting = ['NoExecute'] as const;

/** Shared: most nodes get this decision or the next one. */
export const fits: Decision = Object.freeze({ run: true, schedule: true, keep: true, reason: Object.freeze({ kind: 'fits' }) });
const outOfAffinity: Decision = Object.freeze(never({ kind: 'node-affinity' }));

/**
 * Whether a set should have a pod on a node, where a scheduler places it. Checks the node's name, labels and taints, in this order; the scheduler checks
 * room, ports and conditions. A cordon is a taint.
 *
 * | obstacle | run | keep |
 * | --- | --- | --- |
 * | the template names another node; selector or affinity do not match | no | no |
 * | a NoExecute taint is not tolerated | no | no |
 * | only NoSchedule taints are not tolerated | no | yes |
 * | none | yes | yes |
 *
 * @param tolerations - the template's and the automatic ones
 */
export function decideNode(template: Readonly<PodTemplate>, tolerations: readonly Toleration[], node: Readonly<Node>): Decision {
  const { nodeName, nodeSelector, affinity } = template.spec ?? nothing;
  const { metadata } = node;
  if (nodeName && nodeName !== metadata.name) return never({ kind: 'node-name', wanted: nodeName });
  const mismatch = matchesNodeSelector(nodeSelector, metadata.labels);
  if (mismatch !== undefined) return never({ kind: 'node-selector', ...mismatch });
  if (!matchesNodeAffinity(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, metadata)) return outOfAffinity;
  const taints = node.spec?.taints;
  const refusing = firstUntolerated(taints, tolerations, refusingEffects);
  if (refusing === undefined) return fits;
  const taint = firstUntolerated(taints, tolerations, evicting);
  if (taint !== undefined) return never({ kind: 'taint', taint });
  return { run: false, schedule: false, keep: true, reason: { kind: 'taint', taint: refusing } };
}

const nothing: NonNullable<PodTemplate['spec']> = { containers: [] };

function never(reason: Reason): Decision {
  return { run: false, schedule: false, keep: false, reason };
}

/** Decides about one set on any node. */
export type Decide = (node: Readonly<Node>) => Decision;

/** Where a scheduler places the pods. */
export function decision({ template, tolerations }: Rules): Decide {
  return (node) => decideNode(template, tolerations, node);
}

/** The decision about one set on one node. */
export interface Decision {
  /** The node should have a pod and counts as desired. */
  run: boolean;
  /** A pod may be created there now. Differs from `run` only where the controller places pods, and the node has no room. */
  schedule: boolean;
  /** An existing pod may stay. */
  keep: boolean;
  /** The first obstacle, or `fits`. */
  reason: Reason;
  /** Reasons worth a `FailedPlacement` event: `failed to place pod on "<node>": <reason>`. Controller placement alone. */
  failedPlacement?: readonly string[];
}

export type Reason =
  | { kind: 'fits' }
  /** The template names another node. */
  | { kind: 'node-name'; wanted: string }
  /** A label of `spec.nodeSelector` that the node lacks, or has with another value. */
  | { kind: 'node-selector'; key: string; wanted: string; found: string | undefined }
  /** No term of the required node affinity matches. */
  | { kind: 'node-affinity' }
  | { kind: 'taint'; taint: Taint }
  /** Controller placement alone: another pod uses a host port of the template. */
  | { kind: 'host-ports'; port: number }
  /** Controller placement alone. Amounts as quantities. */
  | { kind: 'resources'; resource: string; wanted: string; free: string };

import type { DaemonSet as DaemonSetFields } from 'kubernetes-types/apps/v1.js';
import type { Node as NodeFields, Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { Kube } from '../../kube/api/object.ts';

export type DaemonSet = Kube<DaemonSetFields>;
export type Pod = Kube<PodFields>;
export type Node = Kube<NodeFields>;
export type PodTemplate = PodTemplateSpec;

/** Who chooses the node of a pod: the cluster's scheduler (the pod is pinned by node affinity), or this controller (by `spec.nodeName`). */
export type Placement = 'scheduler' | 'controller';

export interface DaemonSetOptions {
  /** @default 'scheduler' */
  placement?: Placement;
  /** Sets reconciled at once. @default 5 */
  workers?: number;
  /** Sets and pods of this namespace alone. @default all */
  namespace?: string;
  /** Label selector: sets that do not match are somebody else's. @default all */
  objectSelector?: string;
}

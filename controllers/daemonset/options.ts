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

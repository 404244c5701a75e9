import type { Taint } from 'kubernetes-types/core/v1.js';

/** What is thought of one set on one node. */
export interface Decision {
  /** It should have a pod there: counts as desired. */
  run: boolean;
  /** A pod may be made there now. Differs from `run` only where the controller places pods itself, and the node has no room. */
  schedule: boolean;
  /** A pod that is there may stay. */
  keep: boolean;
  /** The first thing that stands against it, or that nothing does. */
  reason: Reason;
  /** Reasons worth a `FailedPlacement` event: `failed to place pod on "<node>": <reason>`. Controller placement alone. */
  failedPlacement?: readonly string[];
}

export type Reason =
  | { because: 'fits' }
  /** The template names another node. */
  | { because: 'node-name'; wanted: string }
  /** A label of `spec.nodeSelector` that the node has not, or has otherwise. */
  | { because: 'node-selector'; key: string; wanted: string; found: string | undefined }
  /** No term of the required node affinity matches. */
  | { because: 'node-affinity' }
  | { because: 'taint'; taint: Taint }
  /** Controller placement alone: another pod has a port that is wanted. */
  | { because: 'host-ports'; port: number }
  /** Controller placement alone. Amounts as quantities. */
  | { because: 'resources'; resource: string; wanted: string; free: string };

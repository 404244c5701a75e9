import type { FilterName } from './names.ts';

/** Why a pod cannot be on a node, or on any. */
export interface Rejection {
  readonly plugin: FilterName;
  /** Whether taking pods away from the node could help. */
  readonly resolvable: boolean;
  /** As users read them; a node counts once for each. Never empty. */
  readonly reasons: readonly string[];
}

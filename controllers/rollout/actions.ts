import type { RolloutNode } from './node.ts';
import type { ConfigMap } from './revision.ts';

export type Action =
  | { do: 'create-revision'; revision: ConfigMap }
  /** It becomes the newest: nodes go back to it. */
  | { do: 'number-revision'; revision: Readonly<ConfigMap>; number: number }
  /** Agents that condemned it try it again: the annotation dkc.dev/retry has a new value. */
  | { do: 'retry-revision'; revision: Readonly<ConfigMap>; retry: string }
  | { do: 'delete-revision'; revision: Readonly<ConfigMap> }
  /** @member revision - name; absent: local */
  | { do: 'assign'; node: RolloutNode; revision: string | undefined }
  /** It is cordoned and its pods are evicted; the next plan assigns what it was drained for. */
  | { do: 'drain'; node: RolloutNode; revision: string | undefined }
  /** Its Node says that it comes next. */
  | { do: 'plan-maintenance'; node: RolloutNode }
  /** The clock was set back: the time of its deadline begins again. */
  | { do: 'restart-deadline'; node: RolloutNode }
  /** What this rollout left on the Node goes: conditions, the record of a drain, its cordon. */
  | { do: 'give-back'; node: RolloutNode };

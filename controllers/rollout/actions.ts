import type { RolloutNode } from './node.ts';
import type { ConfigMap } from './revision.ts';

export type Action =
  | { do: 'create-revision'; revision: ConfigMap }
  /** It becomes the newest: nodes go back to it. */
  | { do: 'number-revision'; revision: Readonly<ConfigMap>; number: number }
  | { do: 'delete-revision'; revision: Readonly<ConfigMap> }
  /** @member revision - name; absent: local */
  | { do: 'assign'; node: RolloutNode; revision: string | undefined };

import { decidePod } from '../../controllers/rollout/drain/pods.ts';
import type { Pod } from '../../controllers/rollout/drain/contract.ts';
import type { Rules } from '../../controllers/rollout/rules.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';

/** Pods that are named; the others are counted. */
const MAX_NAMED = 20;

/** Pods that would make a drain fail. */
export interface BlockingPods {
  count: number;
  nodes: number;
  /** `NAMESPACE/NAME on NODE has no controller`: the first ones. */
  named: readonly string[];
}

/**
 * Which pods of these nodes a drain would not evict by its policy, from one list of all pods, page by page.
 * @returns undefined where this user may not list them
 * @throws ApiError, TransportError
 */
export async function blockingPods(
  client: Pick<Client, 'listEach'>,
  nodes: ReadonlySet<string>,
  { drainPods, drainTimeoutMs }: Pick<Rules, 'drainPods' | 'drainTimeoutMs'>,
  signal: AbortSignal,
): Promise<BlockingPods | undefined> {
  const policy = { ...drainPods, timeoutMs: drainTimeoutMs };
  const on = new Set<string>();
  const named: string[] = [];
  let count = 0;
  const take = (pod: Pod): void => {
    const node = pod.spec?.nodeName;
    if (node === undefined || !nodes.has(node)) return;
    const decision = decidePod(pod, policy, undefined, 0);
    if (decision.pod !== 'block') return;
    count += 1;
    on.add(node);
    if (named.length < MAX_NAMED) named.push(`${decision.ref.namespace}/${decision.ref.name} on ${node} ${decision.why}`);
  };
  if (nodes.size > 0) {
    try {
      await client.listEach<Pod>(pods, {}, take, { signal });
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  }
  return { count, nodes: on.size, named };
}

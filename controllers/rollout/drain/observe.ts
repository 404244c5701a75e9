import { ActionError } from '../../../base/errors.ts';
import { pods } from '../../../kube/api/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Pod } from './contract.ts';

/** A kubelet runs 110 pods by default; a node with more than this is none that a drain can be sure of. */
export const MAX_PODS_OF_NODE = 5_000;

/**
 * All pods of a node, as the API server has them now: one list of one node costs less than a cache of all pods.
 * @throws {ActionError} for more than 5,000 pods; ApiError, TransportError
 */
export async function podsOfNode(client: Pick<Client, 'listEach'>, node: string, signal: AbortSignal): Promise<Pod[]> {
  const found: Pod[] = [];
  const take = (pod: Pod): void => {
    if (found.length === MAX_PODS_OF_NODE) {
      throw new ActionError('drain node', node, { hint: `it has more than ${MAX_PODS_OF_NODE} pods; remove those that have ended` });
    }
    found.push(pod);
  };
  await client.listEach<Pod>(pods, { fieldSelector: `spec.nodeName=${node}` }, take, { signal });
  return found;
}

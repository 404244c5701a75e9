import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  pods,
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
  storageClasses,
} from '../../kube/api/resources.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { listAll } from '../explain/find-object.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { PodFacts } from '../../scheduler/explain-facts.ts';

type Cluster = Omit<PodFacts, 'pod' | 'config' | 'running' | 'now'>;

const beta = (resource: Resource): Resource => ({ ...resource, version: 'v1beta1' });

/** All of the cluster that decides over a pod, each kind once. */
export async function readCluster(client: Pick<Client, 'listEach'>, signal: AbortSignal): Promise<Cluster> {
  const all = <T extends KubeObject>(resource: Resource, within = {}): Promise<T[]> => listAll<T>(client, resource, within, signal);
  /** In the first version that there is; none where there is none. */
  const served = async <T extends KubeObject>(first: Resource, ...others: readonly Resource[]): Promise<T[]> => {
    try {
      return await all<T>(first);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const [next, ...more] = others;
      return next === undefined ? [] : served<T>(next, ...more);
    }
  };
  const living = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
  // The order is that of the calls below. One kind after the other would show a cluster that never was.
  const lists = {
    pods: all(pods, living),
    nodes: all(nodes),
    namespaces: all(namespaces),
    services: all(services),
    replicationControllers: all(replicationControllers),
    replicaSets: all(replicaSets),
    statefulSets: all(statefulSets),
    budgets: served(podDisruptionBudgets, podDisruptionBudgetsBeta),
    claims: all(persistentVolumeClaims),
    volumes: all(persistentVolumes),
    storageClasses: all(storageClasses),
    csiNodes: served(csiNodes, beta(csiNodes)),
    csiDrivers: served(csiDrivers, beta(csiDrivers)),
    capacities: served(csiStorageCapacities, beta(csiStorageCapacities)),
  } satisfies Record<keyof Cluster, Promise<KubeObject[]>>;
  const names = Object.keys(lists) as (keyof Cluster)[];
  const found = await Promise.all(names.map((name) => lists[name]));
  return Object.fromEntries(names.map((name, at) => [name, found[at]])) as unknown as Cluster;
}

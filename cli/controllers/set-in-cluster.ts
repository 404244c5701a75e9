import { controllerRevisions, daemonSets, nodes, pods } from '../../kube/api/resources.ts';
import { getNamed, listAll, type NamedRef } from '../explain/find-object.ts';
import type { Millis } from '../../base/clock.ts';
import type { Revision } from '../../controllers/common/history/contract.ts';
import type { Placement } from '../../controllers/daemonset/options.ts';
import type { DaemonSet, Node, Pod } from '../../controllers/daemonset/types.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** A DaemonSet, and all of the cluster that its controller looks at when it decides on it. */
export interface SetInCluster {
  set: Readonly<DaemonSet>;
  nodes: readonly Readonly<Node>[];
  /** Of its namespace, its own and others'; of all, where the controller looks for room. */
  pods: readonly Readonly<Pod>[];
  /** Of its namespace, its own and others'. */
  revisions: readonly Readonly<Revision>[];
  /** Wall clock, in ms. */
  now: Millis;
  placement: Placement;
}

export type SetQuery = NamedRef & { placement: Placement; now: () => Millis };

/** @throws {ActionError} when there is no such set, naming what was probably meant */
export async function readSet(client: Pick<Client, 'get' | 'listEach'>, query: SetQuery, signal: AbortSignal): Promise<SetInCluster> {
  const { namespace, placement, now } = query;
  const all = <T extends KubeObject>(resource: Resource, within: { namespace?: string } = { namespace }): Promise<T[]> =>
    listAll(client, resource, within, signal);
  // The set first: what its controller has done since is then seen as well.
  const set = await getNamed<DaemonSet>(client, daemonSets, query, signal);
  const [podsThere, nodesThere, revisions] = await Promise.all([
    all<Pod>(pods, placement === 'controller' ? {} : { namespace }),
    all<Node>(nodes, {}),
    all<Revision>(controllerRevisions),
  ]);
  return { set, nodes: nodesThere, pods: podsThere, revisions, now: now(), placement };
}

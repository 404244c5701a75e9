import { optInsOf } from '../../controllers/statefulset/opt-ins.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets, storageClasses } from '../../kube/api/resources.ts';
import { getNamed, listAll, type NamedRef } from '../explain/find-object.ts';
import type { Millis } from '../../base/clock.ts';
import type { Revision } from '../../controllers/common/history/contract.ts';
import type { Claim, Pod, StatefulSet, StorageClass } from '../../controllers/statefulset/types.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** A StatefulSet, and all of the cluster that its controller looks at when it decides on it. Of its namespace, its own and others'. */
export interface StatefulSetInCluster {
  set: Readonly<StatefulSet>;
  pods: readonly Readonly<Pod>[];
  claims: readonly Readonly<Claim>[];
  revisions: readonly Readonly<Revision>[];
  /** Of the cluster; none unless the set asks for claims to grow. */
  classes: readonly Readonly<StorageClass>[];
  /** Wall clock, in ms. */
  now: Millis;
}

export type StatefulSetQuery = NamedRef & { now: () => Millis };

/** @throws {ActionError} when there is no such set, naming what was probably meant */
export async function readStatefulSet(
  client: Pick<Client, 'get' | 'listEach'>,
  query: StatefulSetQuery,
  signal: AbortSignal,
): Promise<StatefulSetInCluster> {
  const { namespace, now } = query;
  const all = <T extends KubeObject>(resource: Resource, within: { namespace?: string } = { namespace }): Promise<T[]> =>
    listAll(client, resource, within, signal);
  // The set first: what its controller has done since is then seen as well.
  const set = await getNamed<StatefulSet>(client, statefulSets, query, signal);
  const [podsThere, claims, revisions, classes] = await Promise.all([
    all<Pod>(pods),
    all<Claim>(persistentVolumeClaims),
    all<Revision>(controllerRevisions),
    // Not everybody who may look at a namespace may look at the cluster's classes.
    optInsOf(set.metadata.annotations).expandClaims ? all<StorageClass>(storageClasses, {}) : [],
  ]);
  return { set, pods: podsThere, claims, revisions, classes, now: now() };
}

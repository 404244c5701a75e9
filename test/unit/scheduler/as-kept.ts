import { daemonSets, type KubeObject, nodes, pods, type Resource, statefulSets } from '../../../kube/api/object.ts';
import type { Informer } from '../../../kube/cache/contract.ts';
import { type Fields, pruner } from '../../../kube/cache/fields.ts';
import type { Informers } from '../../../kube/cache/informers.ts';
import { StringPool } from '../../../kube/cache/sharing.ts';
import type { Needs } from '../../../kube/cache/shared-informer.ts';
import { defaultSchedulerConfig, type SchedulerConfig } from '../../../scheduler/config/config.ts';
import { schedulerCaches } from '../../../scheduler/informers.ts';

const none = undefined;
const served = {
  budgets: none,
  deviceClasses: none,
  storage: { csiNodes: none, csiDrivers: none, csiStorageCapacities: none, volumeAttachments: none },
};

/** Objects as the scheduler's caches keep them: what is not asked for is not there. */
export function keeper({ reservation, extenders }: Pick<SchedulerConfig, 'reservation' | 'extenders'> = defaultSchedulerConfig) {
  const fields = new Map<string, Fields>();
  const informers = {
    of<T extends KubeObject>({ resource }: Resource, needs: Needs<T> = {}): Informer<T> {
      fields.set(resource, needs.fields ?? 'all');
      return {} as Informer<T>;
    },
  } as Informers;
  schedulerCaches({ informers }, { reservation: { ...reservation, daemonSets: true }, extenders }, served);
  const strings = new StringPool();
  const kept = (kind: Resource) => {
    const prune = pruner(kind, fields.get(kind.resource) ?? 'all', strings);
    return <T extends KubeObject>(object: Readonly<T>): T => prune(object as T);
  };
  return { pod: kept(pods), node: kept(nodes), statefulSet: kept(statefulSets), daemonSet: kept(daemonSets) };
}

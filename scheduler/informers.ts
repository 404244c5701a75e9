import {
  controllerRevisions,
  daemonSets,
  deviceClasses,
  namespaces,
  nodes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  pods,
  replicaSets,
  replicationControllers,
  type Resource,
  services,
  statefulSets,
} from '../kube/api/object.ts';
import type { Informer } from '../kube/cache/contract.ts';
import { controllerOf } from '../kube/controller/owners.ts';
import type { Runtime } from '../kube/process/contract.ts';
import type { SchedulerConfig } from './config/config.ts';
import type {
  Budget,
  ControllerRevision,
  DaemonSet,
  DeviceClass,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from './types.ts';
import { type ServedKinds as ServedStorage, type StorageCaches, storageCachesOf } from './volumes/view.ts';
import { isJsonObject } from '../kube/api/json.ts';
import type { Client } from '../kube/client/client.ts';
import { isNotFound } from '../kube/client/errors.ts';

/** Kinds that not every server has, or that servers have in different versions. */
export interface ServedKinds {
  /** Undefined: no pod is protected by a disruption budget. */
  budgets: Resource | undefined;
  /** Undefined: no extended resource is provided by a DeviceClass. */
  deviceClasses: Resource | undefined;
  storage: ServedStorage;
}

export interface Caches {
  pods: Informer<Pod>;
  nodes: Informer<Node>;
  namespaces: Informer<Namespace>;
  services: Informer<Service>;
  replicationControllers: Informer<ReplicaSet>;
  replicaSets: Informer<ReplicaSet>;
  statefulSets: Informer<StatefulSet>;
  revisions: Informer<ControllerRevision>;
  /** Only where reservations are made for pods of DaemonSets. */
  daemonSets: Informer<DaemonSet> | undefined;
  budgets: Informer<Budget> | undefined;
  deviceClasses: Informer<DeviceClass> | undefined;
  storage: StorageCaches;
}

/** Revisions by the uid of their set. */
export const BY_OWNER = 'owner';

/** Device classes by the extended resource that they provide. */
export const BY_RESOURCE = 'extended-resource';

/** Fields that decisions read. Most of them are not needed of assigned pods, but a cache keeps the same fields of all objects. */
const podFields = [
  'metadata.creationTimestamp',
  'spec.nodeName',
  'spec.schedulerName',
  'spec.schedulingGates',
  'spec.priority',
  'spec.preemptionPolicy',
  'spec.terminationGracePeriodSeconds',
  'spec.nodeSelector',
  'spec.affinity',
  'spec.tolerations',
  'spec.topologySpreadConstraints',
  'spec.overhead',
  'spec.resources.requests',
  'spec.resourceClaims',
  'spec.schedulingGroup',
  'spec.workloadRef',
  'spec.hostNetwork',
  'spec.hostUsers',
  'spec.volumes',
  ...['containers', 'initContainers'].flatMap((list) => [
    `spec.${list}.name`,
    `spec.${list}.image`,
    `spec.${list}.restartPolicy`,
    `spec.${list}.restartPolicyRules.action`,
    `spec.${list}.resources.requests`,
    `spec.${list}.ports`,
  ]),
  // Requests of pods that are resized in place.
  'status.resize',
  'status.resources.requests',
  'status.allocatedResources',
  ...['containerStatuses', 'initContainerStatuses'].flatMap((list) => [
    `status.${list}.name`,
    `status.${list}.resources.requests`,
    `status.${list}.allocatedResources`,
  ]),
  'status.phase',
  'status.startTime',
  'status.nominatedNodeName',
  'status.conditions.type',
  'status.conditions.status',
  'status.conditions.reason',
  'status.conditions.message',
];

const nodeFields = [
  'metadata.annotations',
  'spec.unschedulable',
  'spec.taints',
  'status.allocatable',
  'status.declaredFeatures',
  'status.images',
  'status.conditions.type',
  'status.conditions.status',
];

/**
 * The informers that the scheduler needs. Finished pods take no capacity and are not even listed. Extenders receive whole pods and nodes, and may read any
 * field: with extenders, these objects are cached whole.
 */
export function schedulerCaches(
  { informers }: Pick<Runtime, 'informers'>,
  { reservation, extenders }: Pick<SchedulerConfig, 'reservation' | 'extenders'>,
  served: ServedKinds,
): Caches {
  const selectorOnly = { fields: ['spec.selector'] };
  // Placeholder pods and persisted reservations have the priority class of the pod.
  const ownPodFields = reservation.mirror || reservation.persist === 'annotation' ? [...podFields, 'spec.priorityClassName'] : podFields;
  // The requests of pods that were deleted before this process started are known only from their template.
  const ofTemplate =
    reservation.persist === 'annotation' ? ['spec.template', 'spec.volumeClaimTemplates'] : ['spec.template.spec.schedulerName'];
  const living = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
  return {
    pods: informers.of<Pod>(pods, { fields: extenders.length > 0 ? 'all' : ownPodFields }, living),
    nodes: informers.of<Node>(nodes, { fields: extenders.every(({ nodeCacheCapable }) => nodeCacheCapable) ? nodeFields : 'all' }),
    namespaces: informers.of<Namespace>(namespaces, { fields: [] }),
    services: informers.of<Service>(services, selectorOnly),
    replicationControllers: informers.of<ReplicaSet>(replicationControllers, selectorOnly),
    replicaSets: informers.of<ReplicaSet>(replicaSets, selectorOnly),
    statefulSets: informers.of<StatefulSet>(statefulSets, {
      fields: ['metadata.annotations', 'spec.selector', 'spec.replicas', 'spec.ordinals', 'spec.updateStrategy', ...ofTemplate, 'status'],
    }),
    revisions: informers.of<ControllerRevision>(controllerRevisions, {
      fields: ['revision'],
      indexes: { [BY_OWNER]: (revision) => [controllerOf(revision)?.uid ?? ''] },
    }),
    daemonSets: reservation.daemonSets ? informers.of<DaemonSet>(daemonSets, { fields: ['spec', 'status'] }) : undefined,
    budgets: served.budgets && informers.of<Budget>(served.budgets, { fields: ['spec.selector', 'status'] }),
    deviceClasses:
      served.deviceClasses &&
      informers.of<DeviceClass>(served.deviceClasses, {
        fields: ['spec.extendedResourceName'],
        indexes: { [BY_RESOURCE]: ({ spec }) => [spec?.extendedResourceName ?? ''] },
      }),
    storage: storageCachesOf(informers, served.storage),
  };
}

/**
 * The version in which this server has disruption budgets: `policy/v1`, or `policy/v1beta1` before 1.21.
 * @returns undefined if the server has none: then no pod is protected
 * @throws ApiError, TransportError: discovery failed
 */
export async function servedBudgets(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<Resource | undefined> {
  for (const resource of [podDisruptionBudgets, podDisruptionBudgetsBeta]) if (await isServed(client, resource, signal)) return resource;
  return undefined;
}

/** DeviceClasses, if this server has the version with extended resources. @throws as {@link servedBudgets} */
export async function servedDeviceClasses(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<Resource | undefined> {
  return (await isServed(client, deviceClasses, signal)) ? deviceClasses : undefined;
}

async function isServed(client: Pick<Client, 'raw'>, { group, version, resource }: Resource, signal: AbortSignal): Promise<boolean> {
  let found: unknown;
  try {
    found = await client.raw('GET', `/apis/${group}/${version}`, { signal });
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
  const resources = isJsonObject(found) && Array.isArray(found['resources']) ? found['resources'] : [];
  return resources.some((one: unknown) => isJsonObject(one) && one['name'] === resource);
}

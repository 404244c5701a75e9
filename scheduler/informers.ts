import {
  controllerRevisions,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  daemonSets,
  deviceClasses,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  pods,
  replicaSets,
  replicationControllers,
  type Resource,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
} from '../kube/api/object.ts';
import type { Informer } from '../kube/cache/contract.ts';
import type { Fields } from '../kube/cache/fields.ts';
import type { Informers } from '../kube/cache/informers.ts';
import { controllerOf } from '../kube/controller/owners.ts';
import type { Runtime } from '../kube/process/contract.ts';
import type { SchedulerConfig } from './config/config.ts';
import type {
  Budget,
  Claim,
  ControllerRevision,
  CsiCapacity,
  CsiDriver,
  CsiNode,
  DaemonSet,
  DeviceClass,
  Namespace,
  Node,
  PersistentVolume,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from './types.ts';
import { classNameOf } from './volumes/claims.ts';
import { type Client, servedResources, servesResource } from '../kube/client/client.ts';

/** Kinds that not every server has, or that servers have in different versions. */
export interface ServedKinds {
  /** Undefined: no pod is protected by a disruption budget. */
  budgets: Resource | undefined;
  /** Undefined: no extended resource is provided by a DeviceClass. */
  deviceClasses: Resource | undefined;
  storage: ServedStorageKinds;
}

/** The same for kinds that matter only to pods with volumes. */
export interface ServedStorageKinds {
  csiNodes: Resource | undefined;
  csiDrivers: Resource | undefined;
  /** Since 1.21 as v1beta1, since 1.24 as v1. */
  csiStorageCapacities: Resource | undefined;
  volumeAttachments: Resource | undefined;
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

/** Whether the caches show a state that the server had: no pod is scheduled in the middle of a relist. */
export interface SettledCaches {
  readonly settled: boolean;
  /** Resolves once settled. Rejects with the signal's reason. */
  whenSettled(signal: AbortSignal): Promise<void>;
}

/** Informers of the storage kinds; undefined for kinds that the server does not have. */
export interface StorageCaches {
  claims: Informer<Claim>;
  volumes: Informer<PersistentVolume>;
  classes: Informer<StorageClass>;
  csiNodes: Informer<CsiNode> | undefined;
  csiDrivers: Informer<CsiDriver> | undefined;
  capacities: Informer<CsiCapacity> | undefined;
  attachments: Informer<VolumeAttachment> | undefined;
}

/** Revisions by the uid of their set. */
export const BY_OWNER = 'owner';

/** Device classes by the extended resource that they provide. */
export const BY_RESOURCE = 'extended-resource';

/** Volumes and capacities by their storage class. */
export const BY_CLASS = 'storage-class';

/** Attachments by their node. */
export const BY_NODE = 'node';

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

const volumeSpec = ['accessModes', 'capacity', 'claimRef', 'csi.driver', 'csi.volumeHandle', 'nodeAffinity', 'storageClassName'];
/** Fields that identify the disks of in-tree plugins: see `volumes/pod-volumes.ts`. */
const inTreeSpec = [
  'awsElasticBlockStore.volumeID',
  'gcePersistentDisk.pdName',
  'azureDisk.diskURI',
  'azureDisk.kind',
  'cinder.volumeID',
  'portworxVolume.volumeID',
];
const volumeFields = [...volumeSpec, ...inTreeSpec, 'volumeAttributesClassName', 'volumeMode'].map((field) => `spec.${field}`);
const attachmentFields: Fields = ['spec.nodeName', 'spec.source.persistentVolumeName'];
const capacityFields: Fields = ['capacity', 'maximumVolumeSize', 'nodeTopology', 'storageClassName'];

/** The informers that the volume plugins need. */
function storageCachesOf(informers: Pick<Informers, 'of'>, served: ServedStorageKinds): StorageCaches {
  const claimFields: Fields = ['metadata.annotations', 'spec', 'status.phase'];
  const classFields: Fields = ['provisioner', 'volumeBindingMode', 'allowedTopologies'];
  return {
    claims: informers.of<Claim>(persistentVolumeClaims, { fields: claimFields }),
    volumes: informers.of<PersistentVolume>(persistentVolumes, {
      fields: [...volumeFields, 'metadata.annotations', 'status.phase'],
      indexes: { [BY_CLASS]: (volume) => [classNameOf(volume)] },
    }),
    classes: informers.of<StorageClass>(storageClasses, { fields: classFields }),
    csiNodes: served.csiNodes && informers.of<CsiNode>(served.csiNodes, { fields: ['spec.drivers'] }),
    csiDrivers:
      served.csiDrivers &&
      informers.of<CsiDriver>(served.csiDrivers, { fields: ['spec.storageCapacity', 'spec.preventPodSchedulingIfMissing'] }),
    capacities:
      served.csiStorageCapacities &&
      informers.of<CsiCapacity>(served.csiStorageCapacities, {
        fields: capacityFields,
        indexes: { [BY_CLASS]: ({ storageClassName }) => [storageClassName] },
      }),
    attachments:
      served.volumeAttachments &&
      informers.of<VolumeAttachment>(served.volumeAttachments, {
        fields: attachmentFields,
        indexes: { [BY_NODE]: ({ spec }) => [spec.nodeName] },
      }),
  };
}

/**
 * The version in which this server has disruption budgets: `policy/v1`, or `policy/v1beta1` before 1.21.
 * @returns undefined if the server has none: then no pod is protected
 * @throws ApiError, TransportError: discovery failed
 */
export async function servedBudgets(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<Resource | undefined> {
  for (const resource of [podDisruptionBudgets, podDisruptionBudgetsBeta])
    if (await servesResource(client, resource, signal)) return resource;
  return undefined;
}

/** DeviceClasses, if this server has the version with extended resources. @throws as {@link servedBudgets} */
export async function servedDeviceClasses(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<Resource | undefined> {
  return (await servesResource(client, deviceClasses, signal)) ? deviceClasses : undefined;
}

const storageVersions = ['v1', 'v1beta1'];

/** The storage kinds that this server has, so that no cache waits for a list that always fails. @throws as {@link servedBudgets} */
export async function servedStorageKinds(client: Pick<Client, 'raw'>, signal?: AbortSignal): Promise<ServedStorageKinds> {
  const { group } = csiNodes;
  const options = signal === undefined ? {} : { signal };
  const served = await Promise.all(storageVersions.map((version) => servedResources(client, { group, version }, options)));
  const as = (kind: Resource): Resource | undefined => {
    const at = served.findIndex((resources) => resources.some(({ name }) => name === kind.resource));
    const version = storageVersions[at];
    return version === undefined ? undefined : { ...kind, version };
  };
  return {
    csiNodes: as(csiNodes),
    csiDrivers: as(csiDrivers),
    csiStorageCapacities: as(csiStorageCapacities),
    volumeAttachments: as(volumeAttachments),
  };
}

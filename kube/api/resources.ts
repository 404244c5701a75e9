import type { KubeObject, Resource } from './object.ts';

/**
 * An object of a kind whose fields `kubernetes-types` knows, as our clients and caches take it: what is unknown to the types stays, and metadata is there.
 *
 * ```ts
 * import type { Pod } from 'kubernetes-types/core/v1.js'; // with `.js`: the package names no exports, so paths are files
 * const caches = informers.of<Kube<Pod>>(pods);
 * ```
 */
export type Kube<T> = KubeObject & T;

const core = (resource: string, kind: string, namespaced = true): Resource => ({ group: '', version: 'v1', resource, kind, namespaced });
const named = (group: string, resource: string, kind: string, namespaced = true): Resource => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced,
});

export { configMaps, coreEvents, nodes } from './object.ts';

export const namespaces = core('namespaces', 'Namespace', false);
export const pods = core('pods', 'Pod');
export const services = core('services', 'Service');
export const replicationControllers = core('replicationcontrollers', 'ReplicationController');
export const persistentVolumes = core('persistentvolumes', 'PersistentVolume', false);
export const persistentVolumeClaims = core('persistentvolumeclaims', 'PersistentVolumeClaim');

export const controllerRevisions = named('apps', 'controllerrevisions', 'ControllerRevision');
export const daemonSets = named('apps', 'daemonsets', 'DaemonSet');
export const replicaSets = named('apps', 'replicasets', 'ReplicaSet');
export const statefulSets = named('apps', 'statefulsets', 'StatefulSet');

export const leases = named('coordination.k8s.io', 'leases', 'Lease');
/** Served from 1.21 on; before that as v1beta1. */
export const podDisruptionBudgets = named('policy', 'poddisruptionbudgets', 'PodDisruptionBudget');
/** The same objects where they are not served as v1. Up to 1.24. */
export const podDisruptionBudgetsBeta: Resource = { ...podDisruptionBudgets, version: 'v1beta1' };
export const priorityClasses = named('scheduling.k8s.io', 'priorityclasses', 'PriorityClass', false);

/** Served from 1.34 on; before that as v1beta2 and older, without extended resources. */
export const deviceClasses = named('resource.k8s.io', 'deviceclasses', 'DeviceClass', false);

export const storageClasses = named('storage.k8s.io', 'storageclasses', 'StorageClass', false);
export const csiNodes = named('storage.k8s.io', 'csinodes', 'CSINode', false);
/** Served from 1.18 on. */
export const csiDrivers = named('storage.k8s.io', 'csidrivers', 'CSIDriver', false);
/** Served as v1 from 1.24 on, as v1beta1 from 1.21. */
export const csiStorageCapacities = named('storage.k8s.io', 'csistoragecapacities', 'CSIStorageCapacity');
export const volumeAttachments = named('storage.k8s.io', 'volumeattachments', 'VolumeAttachment', false);

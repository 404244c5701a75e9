import { isJsonObject } from './json.ts';

/** Raw JSON as the API sends it. Never decoded into classes: unknown fields survive a round trip. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
  selfLink?: string;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** A List, as kubectl prints several objects; undefined for anything else. */
export function listOf(value: unknown): { kind: string; items: readonly unknown[] } | undefined {
  const { kind, items } = isJsonObject(value) ? value : {};
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? { kind, items } : undefined;
}

/**
 * An object whose fields `kubernetes-types` declares, as clients and caches use it: fields unknown to the types stay, and metadata is required.
 *
 * ```ts
 * import type { Pod } from 'kubernetes-types/core/v1.js'; // with `.js`: the package names no exports, so paths are files
 * const caches = informers.of<Kube<Pod>>(pods);
 * ```
 */
export type Kube<T> = KubeObject & T;

export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion?: string;
  kind?: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

/** A kind of object and where it lives: `{group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true}`. */
export interface Resource {
  /** '' for the core group. */
  group: string;
  version: string;
  /** Plural, lower case. */
  resource: string;
  kind: string;
  namespaced: boolean;
}

/** The name of a kind as in kubectl, one for each: `pods`, `daemonsets.apps`. */
export function resourceName({ group, resource }: Pick<Resource, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** `metav1.Status`, the answer to every failed call. */
export interface Status {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: { resourceVersion?: string; continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
  code?: number;
}

const core = (resource: string, kind: string, namespaced = true): Resource => ({ group: '', version: 'v1', resource, kind, namespaced });
const named = (group: string, resource: string, kind: string, namespaced = true): Resource => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced,
});

export const nodes = core('nodes', 'Node', false);
export const configMaps = core('configmaps', 'ConfigMap');
export const coreEvents = core('events', 'Event');
/** Where events about Nodes are stored, which have no namespace. */
export const EVENT_NAMESPACE = 'default';
/** Where kubelets renew the Lease of their Node. */
export const LEASE_NAMESPACE = 'kube-node-lease';
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

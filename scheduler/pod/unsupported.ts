import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from './pod-info.ts';

/** What of the cluster says whether device classes stand behind a resource. */
export interface Devices {
  /** The DeviceClass that provides an extended resource (`spec.extendedResourceName`); undefined: none does. */
  classOf(resource: string): string | undefined;
  /** Whether any node has this resource by itself, from a device plugin. */
  isOnNodes(resource: string): boolean;
}

/** Resources that are requests for one device of a class: `deviceclass.resource.kubernetes.io/CLASS`. */
const IMPLICIT = 'deviceclass.resource.kubernetes.io/';

const ANOTHER = 'which this scheduler does not support: give the pod a spec.schedulerName of a scheduler that does, such as kube-scheduler';

/**
 * Why a pod is left to another scheduler: it uses devices of dynamic resource allocation, or is scheduled together with others. An extended resource that a node
 * has by itself is served there, also where a DeviceClass provides it as well.
 * @returns the plugin of kube-scheduler that would be needed, and the reason; undefined: nothing of it
 */
export function unsupportedIn(pod: PodInfo, devices: Devices): { by: Rejector; why: string } | undefined {
  const { resourceClaims, schedulingGroup, workloadRef } = (pod.pod.spec ?? {}) as {
    resourceClaims?: readonly unknown[];
    /** Since 1.36; `workloadRef` in 1.35. */
    schedulingGroup?: object;
    workloadRef?: object;
  };
  if (resourceClaims !== undefined && resourceClaims.length > 0)
    return { by: 'DynamicResources', why: `pod has resourceClaims, ${ANOTHER}` };
  const group = schedulingGroup ? 'schedulingGroup' : workloadRef ? 'workloadRef' : undefined;
  if (group !== undefined) return { by: 'GangScheduling', why: `pod has a ${group}, ${ANOTHER}` };
  for (const resource of pod.requests.scalars.keys()) {
    const device = resource.startsWith(IMPLICIT) ? resource.slice(IMPLICIT.length) : devices.classOf(resource);
    if (device !== undefined && !devices.isOnNodes(resource))
      return { by: 'DynamicResources', why: `pod requests ${resource} of DeviceClass ${device}, ${ANOTHER}` };
  }
  return undefined;
}

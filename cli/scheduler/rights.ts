import { distinctRights, leaseRights, rightsIn, type Right } from '../process/check-rights.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';
import type { SchedulerConfig } from '../../scheduler/config/config.ts';

/** Kinds that are watched with every configuration, by group. */
const watched: readonly (readonly [group: string, resources: string])[] = [
  ['', 'pods nodes namespaces services replicationcontrollers persistentvolumes persistentvolumeclaims'],
  ['apps', 'replicasets statefulsets controllerrevisions'],
  ['policy', 'poddisruptionbudgets'],
  ['resource.k8s.io', 'deviceclasses'],
  ['storage.k8s.io', 'storageclasses csinodes csidrivers csistoragecapacities volumeattachments'],
];

/** All rights that the scheduler needs, each once; docs/scheduler.md grants exactly these. */
export function schedulerRights(config: SchedulerConfig, leaderElect: false | LeaseOptions): Right[] {
  const rights = rightsIn('');
  const { preemption, reservation, extenders } = config;
  const bindsItself = extenders.every(({ bindVerb, managedResources }) => bindVerb === '' || managedResources.length > 0);
  return distinctRights([
    ...watched.flatMap(([group, resources]) => resources.split(' ').flatMap((resource) => rights('list watch', { group, resource }))),
    // If the response to a binding was lost, the scheduler reads the pod before it binds again.
    ...rights('get', { group: '', resource: 'pods' }),
    ...rights('create', { group: '', resource: 'pods', subresource: 'binding', vital: bindsItself }),
    ...rights('patch', { group: '', resource: 'pods', subresource: 'status' }),
    ...(preemption.enabled ? rights('delete', { group: '', resource: 'pods' }) : []),
    ...rights('get patch', { group: '', resource: 'persistentvolumes' }),
    ...rights('get patch', { group: '', resource: 'persistentvolumeclaims' }),
    ...rights('create patch', { group: '', resource: 'events', vital: false }),
    ...(reservation.enabled ? reservationRights(reservation) : []),
    ...leaseRights(leaderElect),
  ]);
}

function reservationRights({ daemonSets, persist, mirror }: SchedulerConfig['reservation']): Right[] {
  const rights = rightsIn('');
  return [
    ...(daemonSets ? rights('list watch', { group: 'apps', resource: 'daemonsets' }) : []),
    ...(persist === 'annotation' ? rights('patch', { group: 'apps', resource: 'statefulsets', vital: false }) : []),
    // Reservations work without placeholder pods, so create is not vital; but no pod is bound to the resources of a placeholder pod before it is deleted.
    ...(mirror
      ? [...rights('create', { group: '', resource: 'pods', vital: false }), ...rights('delete', { group: '', resource: 'pods' })]
      : []),
  ];
}

import { distinctRights, leaseRights, rightsIn, type Right } from '../process/check-rights.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';
import type { SchedulerConfig } from '../../scheduler/config/config.ts';

/** Kinds that are watched whatever the configuration says, by group. */
const watched: readonly (readonly [group: string, resources: string])[] = [
  ['', 'pods nodes namespaces services replicationcontrollers persistentvolumes persistentvolumeclaims'],
  ['apps', 'replicasets statefulsets controllerrevisions'],
  ['policy', 'poddisruptionbudgets'],
  ['resource.k8s.io', 'deviceclasses'],
  ['storage.k8s.io', 'storageclasses csinodes csidrivers csistoragecapacities volumeattachments'],
];

/** All that the scheduler does, each right once; docs/scheduler.md grants this and no more. */
export function schedulerRights(config: SchedulerConfig, leaderElect: false | LeaseOptions): Right[] {
  const rights = rightsIn('');
  const { preemption, reservation, extenders } = config;
  const bindsItself = extenders.every(({ bindVerb, managedResources }) => bindVerb === '' || managedResources.length > 0);
  return distinctRights([
    ...watched.flatMap(([group, resources]) => resources.split(' ').flatMap((resource) => rights('list watch', { group, resource }))),
    // Asked once when an answer was lost: a pod is never bound twice on a guess.
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
    // Room is kept without them as well, but nobody is bound beside one that cannot be removed.
    ...(mirror
      ? [...rights('create', { group: '', resource: 'pods', vital: false }), ...rights('delete', { group: '', resource: 'pods' })]
      : []),
  ];
}

import { distinctRights, leaseRights, type Right, rightsIn } from '../process/check-rights.ts';
import { DEFAULT_NAMESPACE } from '../../controllers/rollout/observe.ts';
import { rollouts } from '../../controllers/rollout/types.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { EVENT_NAMESPACE } from '../../kube/api/object.ts';
import type { ControllerName, ControllersSettings } from './settings.ts';

type RightsSettings = Pick<ControllersSettings, 'controllers' | 'daemonSet' | 'statefulSet' | 'rollout' | 'leaderElect'>;

/** All rights that these controllers need, each once; docs/controllers.md grants exactly these. */
export function rightsFor(settings: RightsSettings): Right[] {
  return distinctRights([...settings.controllers.flatMap((name) => rightsOf(name, settings)), ...leaseRights(settings.leaderElect)]);
}

function rightsOf(name: ControllerName, settings: RightsSettings): Right[] {
  switch (name) {
    case 'daemonset':
      return daemonSetRights(settings.daemonSet);
    case 'statefulset':
      return statefulSetRights(settings.statefulSet);
    case 'rollout':
      return rolloutRights(settings.rollout);
  }
}

function daemonSetRights({ namespace = '', placement }: ControllersSettings['daemonSet']): Right[] {
  const rights = rightsIn(namespace);
  return [
    ...setRights('daemonsets', namespace),
    // A controller that places pods needs the requests of all pods on a node, in all namespaces.
    ...rights('list watch', { group: '', resource: 'pods', namespace: placement === 'controller' ? '' : namespace }),
    ...rights('create patch delete', { group: '', resource: 'pods' }),
    ...rights('list watch', { group: '', resource: 'nodes', namespace: '' }),
  ];
}

function statefulSetRights({ namespace = '' }: ControllersSettings['statefulSet']): Right[] {
  const rights = rightsIn(namespace);
  return [
    ...setRights('statefulsets', namespace),
    // Used when the response to a creation was lost; without this right the controller waits longer.
    ...rights('get', { group: '', resource: 'pods', vital: false }),
    ...rights('list watch create patch delete', { group: '', resource: 'pods' }),
    // Claims that go with their pod block its deletion.
    ...rights('update', { group: '', resource: 'pods', subresource: 'finalizers', vital: false }),
    ...rights('list watch create update', { group: '', resource: 'persistentvolumeclaims' }),
    // The controller deletes no claim, but the admission plugin OwnerReferencesPermissionEnforcement allows changes of owners only with this right.
    ...rights('delete', { group: '', resource: 'persistentvolumeclaims', vital: false }),
    ...rights('list watch', { group: 'storage.k8s.io', resource: 'storageclasses', namespace: '' }),
  ];
}

/** deploy/rights.ts grants this. */
function rolloutRights({ configMapNamespace = DEFAULT_NAMESPACE }: ControllersSettings['rollout']): Right[] {
  const rights = rightsIn('');
  const { group } = rollouts;
  return [
    ...rights('get list watch', { group, resource: rollouts.resource }),
    ...rights('update', { group, resource: rollouts.resource, subresource: 'status' }),
    ...rights('update', { group, resource: rollouts.resource, subresource: 'finalizers', vital: false }),
    ...rights('list watch create patch', { group, resource: nodeConfigs.resource }),
    ...rights('get list watch patch', { group: '', resource: 'nodes' }),
    // Conditions of a node during its change and its drain.
    ...rights('patch', { group: '', resource: 'nodes', subresource: 'status', vital: false }),
    ...rights('list', { group: '', resource: 'pods', vital: false }),
    ...rights('create', { group: '', resource: 'pods', subresource: 'eviction', vital: false }),
    ...rightsIn(configMapNamespace)('list watch create patch delete', { group: '', resource: 'configmaps' }),
    // The fleet page lists the events of the node that a user opens.
    ...rights('list create patch', { group: '', resource: 'events', vital: false, namespace: EVENT_NAMESPACE }),
  ];
}

/** Rights of both set controllers: sets, their revisions, and events. */
function setRights(resource: string, namespace: string): Right[] {
  const rights = rightsIn(namespace);
  return [
    ...rights('get list watch', { group: 'apps', resource }),
    ...rights('update', { group: 'apps', resource, subresource: 'status' }),
    ...rights('update', { group: 'apps', resource, subresource: 'finalizers', vital: false }),
    ...rights('get list watch create patch delete', { group: 'apps', resource: 'controllerrevisions' }),
    ...rights('create patch', { group: '', resource: 'events', vital: false }),
  ];
}

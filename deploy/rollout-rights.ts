import { EVENT_NAMESPACE, GROUP, SYSTEM_NAMESPACE } from './names.ts';
import { role, rule } from './rbac.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** What `dkc controllers run --controllers=rollout` does. */
export const CONTROLLER = 'dkc-rollout-controller';
/** Creates, approves, pauses and takes back rollouts. */
const ADMIN = 'dkc-rollout';

/** Roles of rollouts, without bindings: who may change a rollout is root on every node that it selects. */
export function rolloutRights(): KubeObject[] {
  return [
    role(CONTROLLER, [
      rule(GROUP, 'nodeconfigrollouts', 'get list watch'),
      rule(GROUP, 'nodeconfigrollouts/status', 'update'),
      // Servers that check it let nobody else be the owner of a revision.
      rule(GROUP, 'nodeconfigrollouts/finalizers', 'update'),
      rule(GROUP, 'nodeconfigs', 'list watch create patch'),
      rule('', 'nodes', 'get list watch patch'),
      // Conditions of a node that is worked on, and its drain.
      rule('', 'nodes/status', 'patch'),
      rule('', 'pods', 'list'),
      rule('', 'pods/eviction', 'create'),
    ]),
    role(CONTROLLER, [rule('', 'configmaps', 'list watch create patch delete')], SYSTEM_NAMESPACE),
    // The fleet page lists those about a node that somebody opens.
    role(CONTROLLER, [rule('', 'events', 'list create patch')], EVENT_NAMESPACE),
    role(ADMIN, [
      rule(GROUP, 'nodeconfigrollouts', 'get list watch create update patch delete'),
      // An approval is written to the status.
      rule(GROUP, 'nodeconfigrollouts/status', 'update'),
      rule(GROUP, 'nodeconfigs', 'get list watch'),
      rule('', 'nodes', 'get list watch'),
    ]),
    role(ADMIN, [rule('', 'configmaps', 'get list watch create update patch delete')], SYSTEM_NAMESPACE),
  ];
}

import { EVENT_NAMESPACE, GROUP, SYSTEM_NAMESPACE } from './names.ts';
import { role, rule } from './rbac.ts';
import type { KubeObject } from '../kube/api/object.ts';

/** Who may assign is root on every node: nobody is bound to it, and no default role includes it. */
const ASSIGN = 'dkc-assign';
/** Reads what `dkc nodes` shows. */
const VIEW = 'dkc-view';

/** Roles for people, without bindings. @param hasConfigSource - the server keeps `Node.spec.configSource` (up to 1.25) */
export function adminRights(hasConfigSource: boolean): KubeObject[] {
  const reads = [
    rule(GROUP, 'nodeconfigs', 'get list watch'),
    rule(GROUP, 'nodeconfigrollouts', 'get list watch'),
    rule('', 'nodes', 'get list watch'),
  ];
  return [
    role(VIEW, reads),
    role(ASSIGN, [...reads, rule(GROUP, 'nodeconfigs', 'create patch'), ...(hasConfigSource ? [rule('', 'nodes', 'patch')] : [])]),
    role(ASSIGN, [rule('', 'configmaps', 'get list watch create update patch delete')], SYSTEM_NAMESPACE),
    // What a node says about a configuration that it rejected.
    role(ASSIGN, [rule('', 'events', 'list')], EVENT_NAMESPACE),
  ];
}
